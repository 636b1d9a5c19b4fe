; sha256 d2bbad87b5723ce04f5ba9aba77cde2257beebf95a0abf0ebc39a45ace672d7a
%struct.host = type { ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, i64, i64, i64, i64, i64, i64, i64, i64, i64, ptr }
%struct.relocation = type { i64, i64, i64 }
@host = internal unnamed_addr global %struct.host zeroinitializer, align 8
@pool = internal unnamed_addr global ptr null, align 8
define dso_local noundef i64 @kernel(ptr nocapture noundef initializes((0, 40)) %0) local_unnamed_addr #0 {
  store ptr @worker, ptr %0, align 8
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  store ptr @launch, ptr %2, align 8
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 16
  store ptr @call, ptr %3, align 8
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  store ptr @renew, ptr %4, align 8
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 32
  store ptr @alone, ptr %5, align 8
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(368) @host, ptr noundef nonnull align 8 dereferenceable(368) %0, i64 368, i1 false)
  ret i64 0
}
define internal void @worker(ptr noundef %0) #1 {
  %2 = alloca [2 x i64], align 16
  %3 = alloca [2 x i64], align 16
  %4 = alloca [2 x i64], align 16
  %5 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 120), align 8
  %6 = icmp eq ptr %5, null
  br i1 %6, label %17, label %7
7:                                                ; preds = %1
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 576
  %9 = atomicrmw add ptr %8, i64 1 seq_cst, align 64
  %10 = icmp slt i64 %9, 8
  br i1 %10, label %11, label %17
11:                                               ; preds = %7
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 592
  %13 = getelementptr inbounds [8 x ptr], ptr %12, i64 0, i64 %9
  %14 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 136), align 8
  %15 = tail call ptr %14() #10
  %16 = ptrtoint ptr %15 to i64
  store atomic i64 %16, ptr %13 seq_cst, align 8
  br label %17
17:                                               ; preds = %1, %7, %11
  %18 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %20 = getelementptr inbounds nuw i8, ptr %3, i64 8
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 320
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 256
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 264
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 448
  %25 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 160
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 152
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 168
  br label %31
31:                                               ; preds = %102, %17
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %4) #11
  %32 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 56), align 8
  %33 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %34 = trunc i64 %33 to i32
  %35 = call i32 %32(i32 noundef %34, ptr noundef nonnull %4) #10
  %36 = load i64, ptr %4, align 16
  %37 = load i64, ptr %18, align 8
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %4) #11
  %38 = load atomic i64, ptr %19 monotonic, align 128
  %39 = icmp slt i64 %38, 281474976710656
  %40 = and i64 %38, 281470681743360
  %41 = icmp eq i64 %40, 0
  %42 = or i1 %39, %41
  br i1 %42, label %43, label %97
43:                                               ; preds = %31
  %44 = mul nsw i64 %36, 1000000000
  %45 = add nsw i64 %44, %37
  br label %46
46:                                               ; preds = %89, %43
  %47 = phi i64 [ %45, %43 ], [ %90, %89 ]
  %48 = phi i64 [ 1, %43 ], [ %91, %89 ]
  call void @rho_pause() #10
  %49 = and i64 %48, 63
  %50 = icmp eq i64 %49, 0
  br i1 %50, label %51, label %89
51:                                               ; preds = %46
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %3) #11
  %52 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 56), align 8
  %53 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %54 = trunc i64 %53 to i32
  %55 = call i32 %52(i32 noundef %54, ptr noundef nonnull %3) #10
  %56 = load i64, ptr %3, align 16
  %57 = mul nsw i64 %56, 1000000000
  %58 = load i64, ptr %20, align 8
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %3) #11
  %59 = sub i64 %58, %47
  %60 = add i64 %59, %57
  %61 = icmp slt i64 %60, 40001
  br i1 %61, label %89, label %62
62:                                               ; preds = %51
  %63 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 88), align 8
  %64 = call i32 %63(ptr noundef nonnull %21) #10
  %65 = atomicrmw add ptr %22, i64 1 seq_cst, align 128
  %66 = load i64, ptr %23, align 8
  %67 = load atomic i64, ptr %19 seq_cst, align 128
  %68 = icmp slt i64 %67, 281474976710656
  %69 = and i64 %67, 281470681743360
  %70 = icmp eq i64 %69, 0
  %71 = or i1 %68, %70
  br i1 %71, label %72, label %77
72:                                               ; preds = %62, %72
  %73 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 104), align 8
  %74 = call i32 %73(ptr noundef nonnull %24, ptr noundef nonnull %21) #10
  %75 = load i64, ptr %23, align 8
  %76 = icmp eq i64 %75, %66
  br i1 %76, label %72, label %77
77:                                               ; preds = %72, %62
  %78 = atomicrmw add ptr %22, i64 -1 seq_cst, align 128
  %79 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 96), align 8
  %80 = call i32 %79(ptr noundef nonnull %21) #10
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %2) #11
  %81 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 56), align 8
  %82 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %83 = trunc i64 %82 to i32
  %84 = call i32 %81(i32 noundef %83, ptr noundef nonnull %2) #10
  %85 = load i64, ptr %2, align 16
  %86 = mul nsw i64 %85, 1000000000
  %87 = load i64, ptr %25, align 8
  %88 = add nsw i64 %86, %87
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %2) #11
  br label %89
89:                                               ; preds = %77, %51, %46
  %90 = phi i64 [ %47, %46 ], [ %47, %51 ], [ %88, %77 ]
  %91 = add nuw nsw i64 %48, 1
  %92 = load atomic i64, ptr %19 monotonic, align 128
  %93 = icmp slt i64 %92, 281474976710656
  %94 = and i64 %92, 281470681743360
  %95 = icmp eq i64 %94, 0
  %96 = or i1 %93, %95
  br i1 %96, label %46, label %97
97:                                               ; preds = %89, %31
  %98 = phi i64 [ %38, %31 ], [ %92, %89 ]
  %99 = add nsw i64 %98, -281479271677951
  %100 = cmpxchg ptr %19, i64 %98, i64 %99 seq_cst monotonic, align 8
  %101 = extractvalue { i64, i1 } %100, 1
  br i1 %101, label %103, label %102
102:                                              ; preds = %97, %122
  br label %31
103:                                              ; preds = %97, %119
  %104 = phi i64 [ %120, %119 ], [ %98, %97 ]
  %105 = load i64, ptr %26, align 32
  %106 = and i64 %104, 4294967295
  %107 = xor i64 %106, -1
  %108 = add i64 %105, %107
  %109 = load ptr, ptr %27, align 8
  %110 = load ptr, ptr %28, align 16
  %111 = load i64, ptr %29, align 8
  %112 = mul nsw i64 %111, %108
  %113 = getelementptr inbounds i8, ptr %110, i64 %112
  %114 = call i64 %109(ptr noundef %113) #10
  %115 = icmp eq i64 %114, 0
  br i1 %115, label %119, label %116
116:                                              ; preds = %103
  %117 = load ptr, ptr %30, align 8
  %118 = getelementptr inbounds i64, ptr %117, i64 %108
  store i64 %114, ptr %118, align 8
  br label %119
119:                                              ; preds = %116, %103
  %120 = atomicrmw add ptr %19, i64 -281474976710655 seq_cst, align 128
  %121 = icmp sgt i64 %120, 281474976710655
  br i1 %121, label %103, label %122
122:                                              ; preds = %119
  %123 = atomicrmw add ptr %19, i64 4294967296 seq_cst, align 128
  br label %102
}
define internal i64 @launch(ptr noundef readonly %0, ptr nocapture noundef readonly %1, ptr nocapture noundef writeonly %2) #2 {
  %4 = alloca [2 x i64], align 16
  %5 = alloca [2 x i64], align 16
  %6 = alloca [2 x i64], align 16
  %7 = alloca [16 x i64], align 16
  %8 = alloca [2 x i64], align 16
  %9 = alloca [1024 x i64], align 64
  call void @llvm.lifetime.start.p0(i64 8192, ptr nonnull %9) #11
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %11 = load i64, ptr %10, align 8
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %13 = load i64, ptr %12, align 8
  %14 = mul nsw i64 %13, %11
  %15 = add nsw i64 %14, %11
  %16 = icmp slt i64 %15, 1025
  br i1 %16, label %22, label %17
17:                                               ; preds = %3
  %18 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 40), align 8
  %19 = shl i64 %15, 3
  %20 = tail call ptr %18(i64 noundef %19) #10
  %21 = icmp eq ptr %20, null
  br i1 %21, label %352, label %22
22:                                               ; preds = %3, %17
  %23 = phi ptr [ %20, %17 ], [ %9, %3 ]
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %26 = load i64, ptr %25, align 8
  %27 = getelementptr inbounds %struct.relocation, ptr %24, i64 %26
  %28 = shl i64 %14, 3
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 %23, ptr nonnull align 8 %27, i64 %28, i1 false)
  %29 = load i64, ptr %25, align 8
  %30 = icmp sgt i64 %29, 0
  br i1 %30, label %35, label %31
31:                                               ; preds = %35, %22
  %32 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %33 = load i64, ptr %32, align 8
  %34 = icmp eq i64 %33, 0
  br i1 %34, label %67, label %50
35:                                               ; preds = %22, %35
  %36 = phi ptr [ %46, %35 ], [ %24, %22 ]
  %37 = getelementptr inbounds nuw i8, ptr %36, i64 8
  %38 = load i64, ptr %37, align 8
  %39 = getelementptr inbounds i64, ptr %1, i64 %38
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr inbounds nuw i8, ptr %36, i64 16
  %42 = load i64, ptr %41, align 8
  %43 = add nsw i64 %42, %40
  %44 = load i64, ptr %36, align 8
  %45 = getelementptr inbounds i64, ptr %23, i64 %44
  store i64 %43, ptr %45, align 8
  %46 = getelementptr inbounds nuw i8, ptr %36, i64 24
  %47 = load i64, ptr %25, align 8
  %48 = getelementptr inbounds %struct.relocation, ptr %24, i64 %47
  %49 = icmp ult ptr %46, %48
  br i1 %49, label %35, label %31
50:                                               ; preds = %31
  %51 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %52 = load i64, ptr %51, align 8
  %53 = load ptr, ptr @pool, align 8
  %54 = icmp eq ptr %53, null
  br i1 %54, label %67, label %55
55:                                               ; preds = %50
  %56 = cmpxchg ptr %53, i64 0, i64 1 seq_cst monotonic, align 8
  %57 = extractvalue { i64, i1 } %56, 1
  br i1 %57, label %58, label %67
58:                                               ; preds = %55
  %59 = getelementptr inbounds nuw i8, ptr %53, i64 8
  %60 = load i64, ptr %59, align 8
  %61 = icmp eq i64 %60, 0
  br i1 %61, label %69, label %62
62:                                               ; preds = %58
  %63 = tail call i64 @llvm.smax.i64(i64 %52, i64 1000)
  %64 = icmp sgt i64 %60, %63
  %65 = sub nsw i64 %60, %63
  %66 = select i1 %64, i64 %65, i64 0
  store i64 %66, ptr %59, align 8
  store atomic i64 0, ptr %53 seq_cst, align 128
  br label %67
67:                                               ; preds = %62, %55, %50, %31
  %68 = icmp sgt i64 %11, 0
  br i1 %68, label %329, label %347
69:                                               ; preds = %58
  %70 = getelementptr inbounds i64, ptr %23, i64 %14
  %71 = load ptr, ptr %0, align 8
  %72 = shl i64 %13, 3
  %73 = load i64, ptr %32, align 8
  %74 = load i64, ptr %51, align 8
  %75 = getelementptr inbounds nuw i8, ptr %53, i64 136
  store ptr %71, ptr %75, align 8
  %76 = getelementptr inbounds nuw i8, ptr %53, i64 144
  store ptr %23, ptr %76, align 16
  %77 = getelementptr inbounds nuw i8, ptr %53, i64 152
  store i64 %72, ptr %77, align 8
  %78 = getelementptr inbounds nuw i8, ptr %53, i64 160
  store i64 %11, ptr %78, align 32
  %79 = getelementptr inbounds nuw i8, ptr %53, i64 168
  store ptr %70, ptr %79, align 8
  %80 = shl i64 %11, 3
  call void @llvm.memset.p0.i64(ptr nonnull align 8 %70, i8 0, i64 %80, i1 false)
  %81 = getelementptr inbounds nuw i8, ptr %53, i64 128
  %82 = shl nsw i64 %11, 48
  %83 = shl nsw i64 %73, 32
  %84 = add nsw i64 %83, %82
  store atomic i64 %84, ptr %81 seq_cst, align 128
  %85 = getelementptr inbounds nuw i8, ptr %53, i64 256
  %86 = load atomic i64, ptr %85 seq_cst, align 128
  %87 = icmp eq i64 %86, 0
  br i1 %87, label %233, label %88
88:                                               ; preds = %69
  %89 = icmp sgt i64 %74, 500000
  br i1 %89, label %128, label %90
90:                                               ; preds = %88
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %8) #11
  %91 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 56), align 8
  %92 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %93 = trunc i64 %92 to i32
  %94 = call i32 %91(i32 noundef %93, ptr noundef nonnull %8) #10
  %95 = load i64, ptr %8, align 16
  %96 = mul nsw i64 %95, 1000000000
  %97 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %98 = load i64, ptr %97, align 8
  %99 = add nsw i64 %96, %98
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %8) #11
  %100 = getelementptr inbounds nuw i8, ptr %53, i64 16
  %101 = load i64, ptr %100, align 16
  %102 = sub i64 %99, %101
  %103 = icmp slt i64 %102, 50000
  %104 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %105 = icmp sgt i64 %74, %104
  %106 = select i1 %103, i1 true, i1 %105
  br i1 %106, label %107, label %233
107:                                              ; preds = %90
  %108 = getelementptr inbounds nuw i8, ptr %53, i64 40
  %109 = load i64, ptr %108, align 8
  %110 = icmp eq i64 %109, 0
  br i1 %110, label %113, label %111
111:                                              ; preds = %107
  %112 = add nsw i64 %109, -1
  store i64 %112, ptr %108, align 8
  br label %233
113:                                              ; preds = %107
  %114 = getelementptr inbounds nuw i8, ptr %53, i64 24
  %115 = load i64, ptr %114, align 8
  %116 = getelementptr inbounds nuw i8, ptr %53, i64 32
  %117 = load i64, ptr %116, align 32
  %118 = icmp eq i64 %115, %117
  br i1 %118, label %119, label %125
119:                                              ; preds = %113
  %120 = getelementptr inbounds nuw i8, ptr %53, i64 48
  %121 = load i64, ptr %120, align 16
  %122 = shl i64 %121, 1
  %123 = and i64 %122, 126
  %124 = or disjoint i64 %123, 1
  br label %125
125:                                              ; preds = %119, %113
  %126 = phi i64 [ %124, %119 ], [ 0, %113 ]
  %127 = getelementptr inbounds nuw i8, ptr %53, i64 48
  store i64 %126, ptr %127, align 16
  store i64 %115, ptr %116, align 32
  store i64 %126, ptr %108, align 8
  br label %128
128:                                              ; preds = %125, %88
  %129 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 120), align 8
  %130 = icmp eq ptr %129, null
  br i1 %130, label %221, label %131
131:                                              ; preds = %128
  %132 = call i32 %129() #10
  %133 = sext i32 %132 to i64
  %134 = getelementptr inbounds nuw i8, ptr %53, i64 576
  %135 = load atomic i64, ptr %134 seq_cst, align 64
  %136 = shl nsw i64 %133, 8
  %137 = or i64 %136, %135
  %138 = getelementptr inbounds nuw i8, ptr %53, i64 584
  %139 = load i64, ptr %138, align 8
  %140 = icmp eq i64 %137, %139
  %141 = icmp sgt i64 %135, 8
  %142 = or i1 %141, %140
  %143 = icmp ugt i32 %132, 1023
  %144 = or i1 %143, %142
  br i1 %144, label %221, label %145
145:                                              ; preds = %131
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %7) #11
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 16 dereferenceable(128) %7, i8 0, i64 128, i1 false)
  %146 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 128), align 8
  %147 = call i32 %146(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %7) #10
  %148 = icmp eq i32 %147, 0
  br i1 %148, label %149, label %220
149:                                              ; preds = %145
  %150 = and i64 %133, 63
  %151 = shl nuw i64 1, %150
  %152 = xor i64 %151, -1
  %153 = lshr i64 %133, 6
  %154 = getelementptr inbounds nuw [16 x i64], ptr %7, i64 0, i64 %153
  %155 = load i64, ptr %154, align 8
  %156 = and i64 %155, %152
  store i64 %156, ptr %154, align 8
  %157 = load i64, ptr %7, align 16
  %158 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %159 = load i64, ptr %158, align 8
  %160 = or i64 %159, %157
  %161 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %162 = load i64, ptr %161, align 16
  %163 = or i64 %160, %162
  %164 = getelementptr inbounds nuw i8, ptr %7, i64 24
  %165 = load i64, ptr %164, align 8
  %166 = or i64 %163, %165
  %167 = getelementptr inbounds nuw i8, ptr %7, i64 32
  %168 = load i64, ptr %167, align 16
  %169 = or i64 %166, %168
  %170 = getelementptr inbounds nuw i8, ptr %7, i64 40
  %171 = load i64, ptr %170, align 8
  %172 = or i64 %169, %171
  %173 = getelementptr inbounds nuw i8, ptr %7, i64 48
  %174 = load i64, ptr %173, align 16
  %175 = or i64 %172, %174
  %176 = getelementptr inbounds nuw i8, ptr %7, i64 56
  %177 = load i64, ptr %176, align 8
  %178 = or i64 %175, %177
  %179 = getelementptr inbounds nuw i8, ptr %7, i64 64
  %180 = load i64, ptr %179, align 16
  %181 = or i64 %178, %180
  %182 = getelementptr inbounds nuw i8, ptr %7, i64 72
  %183 = load i64, ptr %182, align 8
  %184 = or i64 %181, %183
  %185 = getelementptr inbounds nuw i8, ptr %7, i64 80
  %186 = load i64, ptr %185, align 16
  %187 = or i64 %184, %186
  %188 = getelementptr inbounds nuw i8, ptr %7, i64 88
  %189 = load i64, ptr %188, align 8
  %190 = or i64 %187, %189
  %191 = getelementptr inbounds nuw i8, ptr %7, i64 96
  %192 = load i64, ptr %191, align 16
  %193 = or i64 %190, %192
  %194 = getelementptr inbounds nuw i8, ptr %7, i64 104
  %195 = load i64, ptr %194, align 8
  %196 = or i64 %193, %195
  %197 = getelementptr inbounds nuw i8, ptr %7, i64 112
  %198 = load i64, ptr %197, align 16
  %199 = or i64 %196, %198
  %200 = getelementptr inbounds nuw i8, ptr %7, i64 120
  %201 = load i64, ptr %200, align 8
  %202 = or i64 %199, %201
  %203 = icmp eq i64 %202, 0
  br i1 %203, label %220, label %204
204:                                              ; preds = %149
  store i64 %137, ptr %138, align 8
  %205 = icmp sgt i64 %135, 0
  br i1 %205, label %206, label %220
206:                                              ; preds = %204
  %207 = getelementptr inbounds nuw i8, ptr %53, i64 592
  br label %208
208:                                              ; preds = %217, %206
  %209 = phi i64 [ 0, %206 ], [ %218, %217 ]
  %210 = getelementptr inbounds nuw [8 x ptr], ptr %207, i64 0, i64 %209
  %211 = load atomic i64, ptr %210 seq_cst, align 8
  %212 = icmp eq i64 %211, 0
  br i1 %212, label %217, label %213
213:                                              ; preds = %208
  %214 = inttoptr i64 %211 to ptr
  %215 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 144), align 8
  %216 = call i32 %215(ptr noundef nonnull %214, i64 noundef 128, ptr noundef nonnull %7) #10
  br label %217
217:                                              ; preds = %213, %208
  %218 = add nuw nsw i64 %209, 1
  %219 = icmp eq i64 %218, %135
  br i1 %219, label %220, label %208
220:                                              ; preds = %217, %204, %149, %145
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %7) #11
  br label %221
221:                                              ; preds = %220, %131, %128
  %222 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 88), align 8
  %223 = getelementptr inbounds nuw i8, ptr %53, i64 320
  %224 = call i32 %222(ptr noundef nonnull %223) #10
  %225 = getelementptr inbounds nuw i8, ptr %53, i64 264
  %226 = load i64, ptr %225, align 8
  %227 = add nsw i64 %226, 1
  store i64 %227, ptr %225, align 8
  %228 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 112), align 8
  %229 = getelementptr inbounds nuw i8, ptr %53, i64 448
  %230 = call i32 %228(ptr noundef nonnull %229) #10
  %231 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 96), align 8
  %232 = call i32 %231(ptr noundef nonnull %223) #10
  br label %233
233:                                              ; preds = %221, %111, %90, %69
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %6) #11
  %234 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 56), align 8
  %235 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %236 = trunc i64 %235 to i32
  %237 = call i32 %234(i32 noundef %236, ptr noundef nonnull %6) #10
  %238 = load i64, ptr %6, align 16
  %239 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %240 = load i64, ptr %239, align 8
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %6) #11
  %241 = atomicrmw add ptr %81, i64 -281474976710656 seq_cst, align 128
  %242 = icmp sgt i64 %241, 281474976710655
  br i1 %242, label %243, label %257
243:                                              ; preds = %233, %251
  %244 = phi i64 [ %252, %251 ], [ 0, %233 ]
  %245 = mul nsw i64 %244, %72
  %246 = getelementptr inbounds i8, ptr %23, i64 %245
  %247 = call i64 %71(ptr noundef nonnull %246) #10
  %248 = icmp eq i64 %247, 0
  br i1 %248, label %251, label %249
249:                                              ; preds = %243
  %250 = getelementptr inbounds nuw i64, ptr %70, i64 %244
  store i64 %247, ptr %250, align 8
  br label %251
251:                                              ; preds = %249, %243
  %252 = add nuw nsw i64 %244, 1
  %253 = atomicrmw add ptr %81, i64 -281474976710656 seq_cst, align 128
  %254 = icmp sgt i64 %253, 281474976710655
  br i1 %254, label %243, label %255
255:                                              ; preds = %251
  %256 = xor i64 %244, -1
  br label %257
257:                                              ; preds = %255, %233
  %258 = phi i64 [ 0, %233 ], [ %256, %255 ]
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %5) #11
  %259 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 56), align 8
  %260 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %261 = trunc i64 %260 to i32
  %262 = call i32 %259(i32 noundef %261, ptr noundef nonnull %5) #10
  %263 = load i64, ptr %5, align 16
  %264 = mul nsw i64 %263, 1000000000
  %265 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %266 = load i64, ptr %265, align 8
  %267 = add nsw i64 %264, %266
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %5) #11
  %268 = sdiv i64 %74, %11
  %269 = sdiv i64 %268, 16
  %270 = add nsw i64 %269, 2000
  %271 = load atomic i64, ptr %81 acquire, align 128
  %272 = and i64 %271, 281470681743360
  %273 = icmp eq i64 %272, %83
  br i1 %273, label %274, label %296
274:                                              ; preds = %303, %257
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %4) #11
  %275 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 56), align 8
  %276 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %277 = trunc i64 %276 to i32
  %278 = call i32 %275(i32 noundef %277, ptr noundef nonnull %4) #10
  %279 = load i64, ptr %4, align 16
  %280 = mul nsw i64 %279, 1000000000
  %281 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %282 = load i64, ptr %281, align 8
  %283 = add nsw i64 %280, %282
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %4) #11
  %284 = sub nsw i64 %283, %267
  %285 = mul i64 %238, -1000000000
  %286 = sub i64 %285, %240
  %287 = add i64 %286, 50000
  %288 = add i64 %287, %267
  %289 = icmp sgt i64 %284, %288
  %290 = getelementptr inbounds nuw i8, ptr %53, i64 56
  %291 = load i64, ptr %290, align 8
  %292 = add i64 %258, %11
  %293 = getelementptr inbounds nuw i8, ptr %53, i64 24
  %294 = load i64, ptr %293, align 8
  %295 = add nsw i64 %292, %294
  store i64 %295, ptr %293, align 8
  br i1 %289, label %308, label %314
296:                                              ; preds = %257, %303
  %297 = phi i64 [ %304, %303 ], [ 0, %257 ]
  %298 = icmp slt i64 %297, %270
  br i1 %298, label %299, label %300
299:                                              ; preds = %296
  call void @rho_pause() #10
  br label %303
300:                                              ; preds = %296
  %301 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 64), align 8
  %302 = call i32 %301() #10
  br label %303
303:                                              ; preds = %300, %299
  %304 = add nuw nsw i64 %297, 1
  %305 = load atomic i64, ptr %81 acquire, align 128
  %306 = and i64 %305, 281470681743360
  %307 = icmp eq i64 %306, %83
  br i1 %307, label %274, label %296
308:                                              ; preds = %274
  %309 = shl nsw i64 %291, 1
  %310 = call i64 @llvm.smin.i64(i64 %309, i64 248)
  %311 = add nsw i64 %310, 8
  %312 = mul nsw i64 %311, %284
  %313 = sdiv i64 %312, 4
  br label %316
314:                                              ; preds = %274
  %315 = sdiv i64 %291, 2
  br label %316
316:                                              ; preds = %308, %314
  %317 = phi i64 [ %313, %308 ], [ 0, %314 ]
  %318 = phi i64 [ %311, %308 ], [ %315, %314 ]
  store i64 %317, ptr %59, align 8
  store i64 %318, ptr %290, align 8
  %319 = getelementptr inbounds nuw i8, ptr %53, i64 16
  store i64 %283, ptr %319, align 16
  store atomic i64 0, ptr %53 release, align 128
  %320 = icmp sgt i64 %11, 0
  br i1 %320, label %321, label %347
321:                                              ; preds = %316, %326
  %322 = phi i64 [ %327, %326 ], [ 0, %316 ]
  %323 = getelementptr inbounds nuw i64, ptr %70, i64 %322
  %324 = load i64, ptr %323, align 8
  %325 = icmp eq i64 %324, 0
  br i1 %325, label %326, label %339
326:                                              ; preds = %321
  %327 = add nuw nsw i64 %322, 1
  %328 = icmp eq i64 %327, %11
  br i1 %328, label %347, label %321
329:                                              ; preds = %67, %336
  %330 = phi i64 [ %337, %336 ], [ 0, %67 ]
  %331 = load ptr, ptr %0, align 8
  %332 = mul nsw i64 %330, %13
  %333 = getelementptr inbounds i64, ptr %23, i64 %332
  %334 = call i64 %331(ptr noundef nonnull %333) #10
  %335 = icmp eq i64 %334, 0
  br i1 %335, label %336, label %339
336:                                              ; preds = %329
  %337 = add nuw nsw i64 %330, 1
  %338 = icmp eq i64 %337, %11
  br i1 %338, label %347, label %329
339:                                              ; preds = %321, %329
  %340 = phi i64 [ %330, %329 ], [ %322, %321 ]
  %341 = phi i64 [ %334, %329 ], [ %324, %321 ]
  %342 = add nuw nsw i64 %340, 1
  %343 = mul nsw i64 %342, %13
  %344 = getelementptr i64, ptr %23, i64 %343
  %345 = getelementptr i8, ptr %344, i64 -8
  %346 = load i64, ptr %345, align 8
  store i64 %346, ptr %2, align 8
  br label %347
347:                                              ; preds = %326, %336, %316, %67, %339
  %348 = phi i64 [ %341, %339 ], [ 0, %67 ], [ 0, %316 ], [ 0, %336 ], [ 0, %326 ]
  %349 = icmp eq ptr %23, %9
  br i1 %349, label %352, label %350
350:                                              ; preds = %347
  %351 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 48), align 8
  call void %351(ptr noundef nonnull %23) #10
  br label %352
352:                                              ; preds = %347, %350, %17
  %353 = phi i64 [ -1, %17 ], [ %348, %350 ], [ %348, %347 ]
  call void @llvm.lifetime.end.p0(i64 8192, ptr nonnull %9) #11
  ret i64 %353
}
define internal ptr @call(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1, i64 noundef %2) #2 {
  %4 = alloca i64, align 8
  %5 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 296), align 8
  %6 = getelementptr inbounds i8, ptr %0, i64 %5
  %7 = load ptr, ptr %6, align 8
  %8 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 304), align 8
  %9 = getelementptr inbounds i8, ptr %7, i64 %8
  %10 = load ptr, ptr %9, align 8
  %11 = load i64, ptr %10, align 8
  %12 = icmp eq i64 %2, %11
  br i1 %12, label %18, label %13
13:                                               ; preds = %3
  %14 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 192), align 8
  %15 = getelementptr inbounds nuw i8, ptr %10, i64 24
  %16 = load ptr, ptr %15, align 8
  tail call void %14(ptr noundef %16) #10
  %17 = load ptr, ptr %15, align 8
  br label %508
18:                                               ; preds = %3
  %19 = getelementptr inbounds nuw i8, ptr %10, i64 16
  %20 = load i64, ptr %19, align 8
  %21 = tail call ptr @llvm.stacksave.p0()
  %22 = alloca i64, i64 %20, align 16
  %23 = add nsw i64 %2, 1
  %24 = alloca i64, i64 %23, align 16
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %4) #11
  %25 = getelementptr inbounds nuw i8, ptr %10, i64 8
  %26 = load i64, ptr %25, align 8
  %27 = alloca ptr, i64 %26, align 16
  %28 = alloca ptr, i64 %26, align 16
  %29 = icmp sgt i64 %2, 0
  br i1 %29, label %30, label %129
30:                                               ; preds = %18
  %31 = getelementptr inbounds nuw i8, ptr %10, i64 56
  %32 = getelementptr inbounds nuw i8, ptr %10, i64 32
  br label %33
33:                                               ; preds = %30, %119
  %34 = phi i64 [ 0, %30 ], [ %120, %119 ]
  %35 = phi ptr [ %31, %30 ], [ %48, %119 ]
  %36 = getelementptr inbounds nuw ptr, ptr %1, i64 %34
  %37 = load ptr, ptr %36, align 8
  %38 = getelementptr inbounds nuw i64, ptr %22, i64 %34
  %39 = getelementptr inbounds nuw i64, ptr %24, i64 %34
  %40 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 288), align 8
  %41 = getelementptr inbounds i8, ptr %37, i64 %40
  %42 = load ptr, ptr %41, align 8
  %43 = load i64, ptr %35, align 8
  %44 = getelementptr inbounds nuw i8, ptr %35, i64 8
  %45 = load i64, ptr %44, align 8
  %46 = getelementptr inbounds nuw i8, ptr %35, i64 16
  %47 = shl nsw i64 %45, 4
  %48 = getelementptr inbounds i8, ptr %46, i64 %47
  %49 = icmp eq i64 %43, 0
  %50 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %51 = icmp eq ptr %42, %50
  %52 = select i1 %49, i1 %51, i1 false
  br i1 %52, label %53, label %57
53:                                               ; preds = %33
  %54 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 152), align 8
  %55 = call double %54(ptr noundef nonnull %37) #10
  store double %55, ptr %39, align 8
  %56 = ptrtoint ptr %39 to i64
  br label %117
57:                                               ; preds = %33
  %58 = icmp eq i64 %43, 1
  %59 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 264), align 8
  %60 = icmp eq ptr %42, %59
  %61 = select i1 %58, i1 %60, i1 false
  br i1 %61, label %62, label %73
62:                                               ; preds = %57
  %63 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 160), align 8
  %64 = call i64 %63(ptr noundef nonnull %37) #10
  store i64 %64, ptr %39, align 8
  %65 = ptrtoint ptr %39 to i64
  store i64 %65, ptr %38, align 8
  %66 = icmp eq i64 %64, -1
  br i1 %66, label %67, label %119
67:                                               ; preds = %62
  %68 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 168), align 8
  %69 = call ptr %68() #10
  %70 = icmp eq ptr %69, null
  br i1 %70, label %119, label %71
71:                                               ; preds = %67
  %72 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 184), align 8
  call void %72() #10
  br label %122
73:                                               ; preds = %57
  %74 = load ptr, ptr %32, align 8
  %75 = icmp eq ptr %42, %74
  br i1 %75, label %76, label %122
76:                                               ; preds = %73
  %77 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 336), align 8
  %78 = getelementptr inbounds i8, ptr %37, i64 %77
  %79 = load i64, ptr %78, align 8
  %80 = icmp eq i64 %79, %43
  br i1 %80, label %81, label %122
81:                                               ; preds = %76
  %82 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 312), align 8
  %83 = getelementptr inbounds i8, ptr %37, i64 %82
  %84 = load i32, ptr %83, align 4
  %85 = sext i32 %84 to i64
  %86 = icmp eq i64 %45, %85
  br i1 %86, label %87, label %122
87:                                               ; preds = %81
  %88 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 320), align 8
  %89 = getelementptr inbounds i8, ptr %37, i64 %88
  %90 = load ptr, ptr %89, align 8
  %91 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 328), align 8
  %92 = getelementptr inbounds i8, ptr %37, i64 %91
  %93 = load ptr, ptr %92, align 8
  %94 = icmp sgt i64 %45, 0
  br i1 %94, label %98, label %113
95:                                               ; preds = %106
  %96 = add nuw nsw i64 %99, 1
  %97 = icmp eq i64 %96, %45
  br i1 %97, label %113, label %98
98:                                               ; preds = %87, %95
  %99 = phi i64 [ %96, %95 ], [ 0, %87 ]
  %100 = getelementptr inbounds nuw i64, ptr %90, i64 %99
  %101 = load i64, ptr %100, align 8
  %102 = shl nuw nsw i64 %99, 1
  %103 = getelementptr inbounds nuw i64, ptr %46, i64 %102
  %104 = load i64, ptr %103, align 8
  %105 = icmp eq i64 %101, %104
  br i1 %105, label %106, label %122
106:                                              ; preds = %98
  %107 = getelementptr inbounds nuw i64, ptr %93, i64 %99
  %108 = load i64, ptr %107, align 8
  %109 = or disjoint i64 %102, 1
  %110 = getelementptr inbounds nuw i64, ptr %46, i64 %109
  %111 = load i64, ptr %110, align 8
  %112 = icmp eq i64 %108, %111
  br i1 %112, label %95, label %122
113:                                              ; preds = %95, %87
  %114 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 304), align 8
  %115 = getelementptr inbounds i8, ptr %37, i64 %114
  %116 = load i64, ptr %115, align 8
  br label %117
117:                                              ; preds = %53, %113
  %118 = phi i64 [ %116, %113 ], [ %56, %53 ]
  store i64 %118, ptr %38, align 8
  br label %119
119:                                              ; preds = %117, %67, %62
  %120 = add nuw nsw i64 %34, 1
  %121 = icmp eq i64 %120, %2
  br i1 %121, label %127, label %33
122:                                              ; preds = %73, %76, %81, %106, %98, %71
  %123 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 192), align 8
  %124 = getelementptr inbounds nuw i8, ptr %10, i64 24
  %125 = load ptr, ptr %124, align 8
  call void %123(ptr noundef %125) #10
  %126 = load ptr, ptr %124, align 8
  br label %506
127:                                              ; preds = %119
  %128 = load i64, ptr %25, align 8
  br label %129
129:                                              ; preds = %127, %18
  %130 = phi i64 [ %128, %127 ], [ %26, %18 ]
  %131 = getelementptr inbounds i64, ptr %22, i64 %2
  %132 = getelementptr inbounds nuw i8, ptr %10, i64 40
  %133 = load i64, ptr %132, align 8
  %134 = getelementptr inbounds i64, ptr %10, i64 %133
  %135 = load i64, ptr %19, align 8
  %136 = sub nsw i64 %135, %2
  %137 = shl i64 %136, 3
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 %131, ptr nonnull align 8 %134, i64 %137, i1 false)
  %138 = shl i64 %130, 3
  call void @llvm.memset.p0.i64(ptr nonnull align 16 %27, i8 0, i64 %138, i1 false)
  %139 = getelementptr inbounds nuw i8, ptr %10, i64 48
  %140 = load i64, ptr %139, align 8
  %141 = getelementptr inbounds i64, ptr %10, i64 %140
  %142 = getelementptr inbounds nuw i8, ptr %10, i64 24
  %143 = getelementptr inbounds nuw i8, ptr %10, i64 32
  br label %144
144:                                              ; preds = %289, %129
  %145 = phi ptr [ %141, %129 ], [ %290, %289 ]
  %146 = load i64, ptr %145, align 8
  %147 = trunc i64 %146 to i32
  switch i32 %147, label %464 [
    i32 0, label %153
    i32 1, label %177
    i32 2, label %148
    i32 3, label %252
    i32 4, label %295
    i32 5, label %304
    i32 6, label %316
    i32 7, label %324
    i32 8, label %346
    i32 9, label %371
    i32 10, label %387
    i32 11, label %415
    i32 12, label %427
    i32 13, label %442
    i32 14, label %455
  ]
148:                                              ; preds = %144
  %149 = getelementptr inbounds nuw i8, ptr %145, i64 24
  %150 = getelementptr inbounds nuw i8, ptr %145, i64 32
  %151 = load i64, ptr %149, align 8
  %152 = icmp sgt i64 %151, 0
  br i1 %152, label %229, label %221
153:                                              ; preds = %144
  %154 = getelementptr inbounds nuw i8, ptr %145, i64 32
  %155 = load i64, ptr %154, align 8
  %156 = getelementptr inbounds i64, ptr %22, i64 %155
  %157 = getelementptr inbounds nuw i8, ptr %145, i64 16
  %158 = load i64, ptr %157, align 8
  %159 = inttoptr i64 %158 to ptr
  %160 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 192), align 8
  call void %160(ptr noundef %159) #10
  %161 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %162 = load ptr, ptr %143, align 8
  %163 = getelementptr inbounds nuw i8, ptr %145, i64 24
  %164 = load i64, ptr %163, align 8
  %165 = trunc i64 %164 to i32
  %166 = call ptr %161(ptr noundef %162, ptr noundef %159, i32 noundef %165, ptr noundef nonnull %156, ptr noundef null, ptr noundef null, i32 noundef 0, ptr noundef null) #10
  %167 = icmp eq ptr %166, null
  br i1 %167, label %464, label %168
168:                                              ; preds = %153
  %169 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %170 = load i64, ptr %169, align 8
  %171 = getelementptr inbounds ptr, ptr %27, i64 %170
  store ptr %166, ptr %171, align 8
  %172 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 304), align 8
  %173 = getelementptr inbounds i8, ptr %166, i64 %172
  %174 = load i64, ptr %173, align 8
  %175 = getelementptr inbounds i64, ptr %22, i64 %170
  store i64 %174, ptr %175, align 8
  %176 = getelementptr inbounds nuw i8, ptr %145, i64 40
  br label %289
177:                                              ; preds = %144
  %178 = getelementptr inbounds nuw i8, ptr %145, i64 40
  %179 = load i64, ptr %178, align 8
  %180 = icmp slt i64 %179, %2
  %181 = select i1 %180, ptr %1, ptr %27
  %182 = getelementptr inbounds ptr, ptr %181, i64 %179
  %183 = load ptr, ptr %182, align 8
  %184 = getelementptr inbounds nuw i8, ptr %145, i64 48
  %185 = load i64, ptr %184, align 8
  %186 = getelementptr inbounds i64, ptr %22, i64 %185
  %187 = load i64, ptr %186, align 8
  %188 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %189 = load i64, ptr %188, align 8
  %190 = getelementptr inbounds i64, ptr %22, i64 %189
  store i64 %187, ptr %190, align 8
  %191 = getelementptr inbounds nuw i8, ptr %145, i64 32
  %192 = load i64, ptr %191, align 8
  %193 = getelementptr inbounds i64, ptr %22, i64 %192
  %194 = getelementptr inbounds nuw i8, ptr %145, i64 24
  %195 = load i64, ptr %194, align 8
  %196 = getelementptr inbounds i64, ptr %193, i64 %195
  %197 = load i64, ptr %184, align 8
  %198 = getelementptr inbounds i64, ptr %22, i64 %197
  %199 = load i64, ptr %198, align 8
  %200 = inttoptr i64 %199 to ptr
  %201 = getelementptr inbounds nuw i8, ptr %145, i64 16
  %202 = load i64, ptr %201, align 8
  %203 = inttoptr i64 %202 to ptr
  %204 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 192), align 8
  call void %204(ptr noundef %203) #10
  %205 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %206 = load ptr, ptr %143, align 8
  %207 = load i64, ptr %194, align 8
  %208 = trunc i64 %207 to i32
  %209 = icmp eq i64 %199, 0
  %210 = select i1 %209, i32 0, i32 1024
  %211 = call ptr %205(ptr noundef %206, ptr noundef %203, i32 noundef %208, ptr noundef nonnull %193, ptr noundef nonnull %196, ptr noundef %200, i32 noundef %210, ptr noundef null) #10
  %212 = icmp eq ptr %211, null
  br i1 %212, label %464, label %213
213:                                              ; preds = %177
  %214 = load i64, ptr %188, align 8
  %215 = getelementptr inbounds ptr, ptr %27, i64 %214
  store ptr %211, ptr %215, align 8
  %216 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 192), align 8
  call void %216(ptr noundef %183) #10
  %217 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 280), align 8
  %218 = call i32 %217(ptr noundef nonnull %211, ptr noundef %183) #10
  %219 = icmp eq i32 %218, 0
  %220 = getelementptr inbounds nuw i8, ptr %145, i64 56
  br i1 %219, label %289, label %464
221:                                              ; preds = %229, %148
  %222 = phi i64 [ %151, %148 ], [ %239, %229 ]
  %223 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %224 = getelementptr inbounds nuw i8, ptr %145, i64 16
  %225 = load i64, ptr %224, align 8
  %226 = inttoptr i64 %225 to ptr
  %227 = call ptr %223(ptr noundef %226, ptr noundef nonnull %28, i64 noundef %222, ptr noundef null) #10
  %228 = icmp eq ptr %227, null
  br i1 %228, label %464, label %241
229:                                              ; preds = %148, %229
  %230 = phi i64 [ %238, %229 ], [ 0, %148 ]
  %231 = getelementptr inbounds nuw i64, ptr %150, i64 %230
  %232 = load i64, ptr %231, align 8
  %233 = icmp slt i64 %232, %2
  %234 = select i1 %233, ptr %1, ptr %27
  %235 = getelementptr inbounds ptr, ptr %234, i64 %232
  %236 = load ptr, ptr %235, align 8
  %237 = getelementptr inbounds nuw ptr, ptr %28, i64 %230
  store ptr %236, ptr %237, align 8
  %238 = add nuw nsw i64 %230, 1
  %239 = load i64, ptr %149, align 8
  %240 = icmp slt i64 %238, %239
  br i1 %240, label %229, label %221
241:                                              ; preds = %221
  %242 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %243 = load i64, ptr %242, align 8
  %244 = getelementptr inbounds ptr, ptr %27, i64 %243
  store ptr %227, ptr %244, align 8
  %245 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 304), align 8
  %246 = getelementptr inbounds i8, ptr %227, i64 %245
  %247 = load i64, ptr %246, align 8
  %248 = getelementptr inbounds i64, ptr %22, i64 %243
  store i64 %247, ptr %248, align 8
  %249 = load i64, ptr %149, align 8
  %250 = getelementptr i64, ptr %145, i64 %249
  %251 = getelementptr i8, ptr %250, i64 32
  br label %289
252:                                              ; preds = %144
  %253 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %254 = load i64, ptr %253, align 8
  %255 = getelementptr inbounds i64, ptr %10, i64 %254
  %256 = getelementptr inbounds nuw i8, ptr %255, i64 40
  %257 = load i64, ptr %256, align 8
  %258 = icmp eq i64 %257, 0
  br i1 %258, label %259, label %261
259:                                              ; preds = %252
  %260 = call i64 @launch(ptr noundef nonnull %255, ptr noundef nonnull %22, ptr noundef nonnull %4) #12
  br label %268
261:                                              ; preds = %252
  %262 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %263 = call ptr %262() #10
  %264 = call i64 @launch(ptr noundef nonnull %255, ptr noundef nonnull %22, ptr noundef nonnull %4) #12
  %265 = icmp eq ptr %263, null
  br i1 %265, label %268, label %266
266:                                              ; preds = %261
  %267 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %267(ptr noundef nonnull %263) #10
  br label %268
268:                                              ; preds = %259, %266, %261
  %269 = phi i64 [ %260, %259 ], [ %264, %266 ], [ %264, %261 ]
  %270 = icmp eq i64 %269, 0
  br i1 %270, label %287, label %271
271:                                              ; preds = %268
  %272 = load i64, ptr %25, align 8
  %273 = icmp sgt i64 %272, 0
  br i1 %273, label %274, label %291
274:                                              ; preds = %271, %283
  %275 = phi i64 [ %284, %283 ], [ %272, %271 ]
  %276 = phi i64 [ %285, %283 ], [ 0, %271 ]
  %277 = getelementptr inbounds nuw ptr, ptr %27, i64 %276
  %278 = load ptr, ptr %277, align 8
  %279 = icmp eq ptr %278, null
  br i1 %279, label %283, label %280
280:                                              ; preds = %274
  %281 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 200), align 8
  call void %281(ptr noundef nonnull %278) #10
  %282 = load i64, ptr %25, align 8
  br label %283
283:                                              ; preds = %280, %274
  %284 = phi i64 [ %275, %274 ], [ %282, %280 ]
  %285 = add nuw nsw i64 %276, 1
  %286 = icmp slt i64 %285, %284
  br i1 %286, label %274, label %291
287:                                              ; preds = %268
  %288 = getelementptr inbounds nuw i8, ptr %145, i64 16
  br label %289
289:                                              ; preds = %287, %421, %423, %168, %241, %295, %316, %324, %365, %371, %413, %427, %450, %455, %213
  %290 = phi ptr [ %463, %455 ], [ %454, %450 ], [ %441, %427 ], [ %414, %413 ], [ %386, %371 ], [ %370, %365 ], [ %345, %324 ], [ %323, %316 ], [ %303, %295 ], [ %251, %241 ], [ %176, %168 ], [ %220, %213 ], [ %422, %421 ], [ %426, %423 ], [ %288, %287 ]
  br label %144
291:                                              ; preds = %283, %271
  %292 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 192), align 8
  %293 = load ptr, ptr %142, align 8
  call void %292(ptr noundef %293) #10
  %294 = load ptr, ptr %142, align 8
  br label %506
295:                                              ; preds = %144
  %296 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 200), align 8
  %297 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %298 = load i64, ptr %297, align 8
  %299 = getelementptr inbounds ptr, ptr %27, i64 %298
  %300 = load ptr, ptr %299, align 8
  call void %296(ptr noundef %300) #10
  %301 = load i64, ptr %297, align 8
  %302 = getelementptr inbounds ptr, ptr %27, i64 %301
  store ptr null, ptr %302, align 8
  %303 = getelementptr inbounds nuw i8, ptr %145, i64 16
  br label %289
304:                                              ; preds = %144
  %305 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %306 = load i64, ptr %305, align 8
  %307 = icmp eq i64 %306, 1
  %308 = getelementptr inbounds nuw i8, ptr %145, i64 16
  br i1 %307, label %309, label %313
309:                                              ; preds = %304
  %310 = load i64, ptr %308, align 8
  %311 = getelementptr inbounds ptr, ptr %27, i64 %310
  %312 = load ptr, ptr %311, align 8
  br label %506
313:                                              ; preds = %304
  %314 = call fastcc ptr @tuple_of(ptr noundef nonnull %308, i64 noundef %306, ptr noundef %27) #12
  %315 = icmp eq ptr %314, null
  br i1 %315, label %464, label %506
316:                                              ; preds = %144
  %317 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %318 = load i64, ptr %317, align 8
  %319 = getelementptr inbounds i64, ptr %22, i64 %318
  %320 = load i64, ptr %319, align 8
  %321 = add nsw i64 %320, 63
  %322 = and i64 %321, -64
  store i64 %322, ptr %319, align 8
  %323 = getelementptr inbounds nuw i8, ptr %145, i64 16
  br label %289
324:                                              ; preds = %144
  %325 = getelementptr inbounds nuw i8, ptr %145, i64 16
  %326 = load i64, ptr %325, align 8
  %327 = getelementptr inbounds i64, ptr %22, i64 %326
  %328 = load i64, ptr %327, align 8
  %329 = getelementptr inbounds nuw i8, ptr %145, i64 24
  %330 = load i64, ptr %329, align 8
  %331 = getelementptr inbounds i64, ptr %22, i64 %330
  %332 = load i64, ptr %331, align 8
  %333 = getelementptr inbounds nuw i8, ptr %145, i64 32
  %334 = load i64, ptr %333, align 8
  %335 = getelementptr inbounds i64, ptr %22, i64 %334
  %336 = load i64, ptr %335, align 8
  %337 = mul nsw i64 %336, %332
  %338 = add nsw i64 %337, %328
  %339 = getelementptr inbounds nuw i8, ptr %145, i64 40
  %340 = load i64, ptr %339, align 8
  %341 = add nsw i64 %338, %340
  %342 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %343 = load i64, ptr %342, align 8
  %344 = getelementptr inbounds i64, ptr %22, i64 %343
  store i64 %341, ptr %344, align 8
  %345 = getelementptr inbounds nuw i8, ptr %145, i64 48
  br label %289
346:                                              ; preds = %144
  %347 = getelementptr inbounds nuw i8, ptr %145, i64 16
  %348 = load i64, ptr %347, align 8
  %349 = getelementptr inbounds i64, ptr %22, i64 %348
  %350 = load i64, ptr %349, align 8
  %351 = getelementptr inbounds nuw i8, ptr %145, i64 24
  %352 = load i64, ptr %351, align 8
  %353 = add nsw i64 %352, %350
  %354 = inttoptr i64 %353 to ptr
  %355 = getelementptr inbounds nuw i8, ptr %145, i64 32
  %356 = load i64, ptr %355, align 8
  switch i64 %356, label %363 [
    i64 1, label %357
    i64 4, label %360
  ]
357:                                              ; preds = %346
  %358 = load i8, ptr %354, align 1
  %359 = zext i8 %358 to i64
  br label %365
360:                                              ; preds = %346
  %361 = load i32, ptr %354, align 1
  %362 = sext i32 %361 to i64
  br label %365
363:                                              ; preds = %346
  %364 = load i64, ptr %354, align 1
  br label %365
365:                                              ; preds = %357, %360, %363
  %366 = phi i64 [ %359, %357 ], [ %362, %360 ], [ %364, %363 ]
  %367 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %368 = load i64, ptr %367, align 8
  %369 = getelementptr inbounds i64, ptr %22, i64 %368
  store i64 %366, ptr %369, align 8
  %370 = getelementptr inbounds nuw i8, ptr %145, i64 40
  br label %289
371:                                              ; preds = %144
  %372 = getelementptr inbounds nuw i8, ptr %145, i64 16
  %373 = load i64, ptr %372, align 8
  %374 = getelementptr inbounds ptr, ptr %27, i64 %373
  %375 = load ptr, ptr %374, align 8
  %376 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 320), align 8
  %377 = getelementptr inbounds i8, ptr %375, i64 %376
  %378 = load ptr, ptr %377, align 8
  %379 = getelementptr inbounds nuw i8, ptr %145, i64 24
  %380 = load i64, ptr %379, align 8
  %381 = getelementptr inbounds i64, ptr %378, i64 %380
  %382 = load i64, ptr %381, align 8
  %383 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %384 = load i64, ptr %383, align 8
  %385 = getelementptr inbounds i64, ptr %22, i64 %384
  store i64 %382, ptr %385, align 8
  %386 = getelementptr inbounds nuw i8, ptr %145, i64 32
  br label %289
387:                                              ; preds = %144
  %388 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %389 = load i64, ptr %388, align 8
  %390 = getelementptr inbounds i64, ptr %22, i64 %389
  %391 = load i64, ptr %390, align 8
  %392 = icmp slt i64 %391, 0
  br i1 %392, label %393, label %413
393:                                              ; preds = %387
  %394 = load i64, ptr %25, align 8
  %395 = icmp sgt i64 %394, 0
  br i1 %395, label %396, label %409
396:                                              ; preds = %393, %405
  %397 = phi i64 [ %406, %405 ], [ %394, %393 ]
  %398 = phi i64 [ %407, %405 ], [ 0, %393 ]
  %399 = getelementptr inbounds nuw ptr, ptr %27, i64 %398
  %400 = load ptr, ptr %399, align 8
  %401 = icmp eq ptr %400, null
  br i1 %401, label %405, label %402
402:                                              ; preds = %396
  %403 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 200), align 8
  call void %403(ptr noundef nonnull %400) #10
  %404 = load i64, ptr %25, align 8
  br label %405
405:                                              ; preds = %402, %396
  %406 = phi i64 [ %397, %396 ], [ %404, %402 ]
  %407 = add nuw nsw i64 %398, 1
  %408 = icmp slt i64 %407, %406
  br i1 %408, label %396, label %409
409:                                              ; preds = %405, %393
  %410 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 192), align 8
  %411 = load ptr, ptr %142, align 8
  call void %410(ptr noundef %411) #10
  %412 = load ptr, ptr %142, align 8
  br label %506
413:                                              ; preds = %387
  %414 = getelementptr inbounds nuw i8, ptr %145, i64 16
  br label %289
415:                                              ; preds = %144
  %416 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %417 = load i64, ptr %416, align 8
  %418 = getelementptr inbounds i64, ptr %22, i64 %417
  %419 = load i64, ptr %418, align 8
  %420 = icmp eq i64 %419, 0
  br i1 %420, label %423, label %421
421:                                              ; preds = %415
  %422 = getelementptr inbounds nuw i8, ptr %145, i64 24
  br label %289
423:                                              ; preds = %415
  %424 = getelementptr inbounds nuw i8, ptr %145, i64 16
  %425 = load i64, ptr %424, align 8
  %426 = getelementptr inbounds i64, ptr %10, i64 %425
  br label %289
427:                                              ; preds = %144
  %428 = getelementptr inbounds nuw i8, ptr %145, i64 16
  %429 = load i64, ptr %428, align 8
  %430 = getelementptr inbounds ptr, ptr %27, i64 %429
  %431 = load ptr, ptr %430, align 8
  %432 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %433 = load i64, ptr %432, align 8
  %434 = getelementptr inbounds ptr, ptr %27, i64 %433
  store ptr %431, ptr %434, align 8
  %435 = load i64, ptr %428, align 8
  %436 = getelementptr inbounds ptr, ptr %27, i64 %435
  store ptr null, ptr %436, align 8
  %437 = getelementptr inbounds i64, ptr %22, i64 %435
  %438 = load i64, ptr %437, align 8
  %439 = load i64, ptr %432, align 8
  %440 = getelementptr inbounds i64, ptr %22, i64 %439
  store i64 %438, ptr %440, align 8
  %441 = getelementptr inbounds nuw i8, ptr %145, i64 24
  br label %289
442:                                              ; preds = %144
  %443 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  %444 = getelementptr inbounds nuw i8, ptr %145, i64 16
  %445 = load i64, ptr %444, align 8
  %446 = getelementptr inbounds i64, ptr %22, i64 %445
  %447 = load i64, ptr %446, align 8
  %448 = call ptr %443(i64 noundef %447) #10
  %449 = icmp eq ptr %448, null
  br i1 %449, label %464, label %450
450:                                              ; preds = %442
  %451 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %452 = load i64, ptr %451, align 8
  %453 = getelementptr inbounds ptr, ptr %27, i64 %452
  store ptr %448, ptr %453, align 8
  %454 = getelementptr inbounds nuw i8, ptr %145, i64 24
  br label %289
455:                                              ; preds = %144
  %456 = getelementptr inbounds nuw i8, ptr %145, i64 16
  %457 = load i64, ptr %456, align 8
  %458 = getelementptr inbounds i64, ptr %22, i64 %457
  %459 = ptrtoint ptr %458 to i64
  %460 = getelementptr inbounds nuw i8, ptr %145, i64 8
  %461 = load i64, ptr %460, align 8
  %462 = getelementptr inbounds i64, ptr %22, i64 %461
  store i64 %459, ptr %462, align 8
  %463 = getelementptr inbounds nuw i8, ptr %145, i64 24
  br label %289
464:                                              ; preds = %213, %177, %144, %442, %221, %153, %313
  %465 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 176), align 8
  %466 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 360), align 8
  %467 = call i32 %465(ptr noundef %466) #10
  %468 = icmp eq i32 %467, 0
  br i1 %468, label %469, label %485
469:                                              ; preds = %464
  %470 = load i64, ptr %25, align 8
  %471 = icmp sgt i64 %470, 0
  br i1 %471, label %472, label %506
472:                                              ; preds = %469, %481
  %473 = phi i64 [ %482, %481 ], [ %470, %469 ]
  %474 = phi i64 [ %483, %481 ], [ 0, %469 ]
  %475 = getelementptr inbounds nuw ptr, ptr %27, i64 %474
  %476 = load ptr, ptr %475, align 8
  %477 = icmp eq ptr %476, null
  br i1 %477, label %481, label %478
478:                                              ; preds = %472
  %479 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 200), align 8
  call void %479(ptr noundef nonnull %476) #10
  %480 = load i64, ptr %25, align 8
  br label %481
481:                                              ; preds = %478, %472
  %482 = phi i64 [ %473, %472 ], [ %480, %478 ]
  %483 = add nuw nsw i64 %474, 1
  %484 = icmp slt i64 %483, %482
  br i1 %484, label %472, label %506
485:                                              ; preds = %464
  %486 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 184), align 8
  call void %486() #10
  %487 = load i64, ptr %25, align 8
  %488 = icmp sgt i64 %487, 0
  br i1 %488, label %489, label %502
489:                                              ; preds = %485, %498
  %490 = phi i64 [ %499, %498 ], [ %487, %485 ]
  %491 = phi i64 [ %500, %498 ], [ 0, %485 ]
  %492 = getelementptr inbounds nuw ptr, ptr %27, i64 %491
  %493 = load ptr, ptr %492, align 8
  %494 = icmp eq ptr %493, null
  br i1 %494, label %498, label %495
495:                                              ; preds = %489
  %496 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 200), align 8
  call void %496(ptr noundef nonnull %493) #10
  %497 = load i64, ptr %25, align 8
  br label %498
498:                                              ; preds = %495, %489
  %499 = phi i64 [ %490, %489 ], [ %497, %495 ]
  %500 = add nuw nsw i64 %491, 1
  %501 = icmp slt i64 %500, %499
  br i1 %501, label %489, label %502
502:                                              ; preds = %498, %485
  %503 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 192), align 8
  %504 = load ptr, ptr %142, align 8
  call void %503(ptr noundef %504) #10
  %505 = load ptr, ptr %142, align 8
  br label %506
506:                                              ; preds = %481, %291, %122, %469, %309, %409, %502, %313
  %507 = phi ptr [ %126, %122 ], [ %505, %502 ], [ %412, %409 ], [ %312, %309 ], [ %314, %313 ], [ null, %469 ], [ %294, %291 ], [ null, %481 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %4) #11
  call void @llvm.stackrestore.p0(ptr %21)
  br label %508
508:                                              ; preds = %506, %13
  %509 = phi ptr [ %17, %13 ], [ %507, %506 ]
  ret ptr %509
}
define internal noundef ptr @renew() #2 {
  %1 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 40), align 8
  %2 = tail call ptr %1(i64 noundef 896) #10
  %3 = icmp eq ptr %2, null
  br i1 %3, label %15, label %4
4:                                                ; preds = %0
  %5 = ptrtoint ptr %2 to i64
  %6 = add nsw i64 %5, 127
  %7 = and i64 %6, -128
  %8 = inttoptr i64 %7 to ptr
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 128 dereferenceable(768) %8, i8 0, i64 768, i1 false)
  %9 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 72), align 8
  %10 = getelementptr inbounds nuw i8, ptr %8, i64 320
  %11 = tail call i32 %9(ptr noundef nonnull %10, ptr noundef null) #10
  %12 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 80), align 8
  %13 = getelementptr inbounds nuw i8, ptr %8, i64 448
  %14 = tail call i32 %12(ptr noundef nonnull %13, ptr noundef null) #10
  store ptr %8, ptr @pool, align 8
  br label %15
15:                                               ; preds = %0, %4
  %16 = phi ptr [ %8, %4 ], [ null, %0 ]
  ret ptr %16
}
define internal nonnull ptr @alone() #3 {
  %1 = load ptr, ptr @pool, align 8
  %2 = getelementptr inbounds nuw i8, ptr %1, i64 8
  ret ptr %2
}
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #4
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #5
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #5
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #7
declare ptr @llvm.stacksave.p0() #8
define internal fastcc ptr @tuple_of(ptr nocapture noundef readonly %0, i64 noundef range(i64 2, 1) %1, ptr nocapture noundef nonnull %2) unnamed_addr #2 {
  %4 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 208), align 8
  %5 = tail call ptr %4(i64 noundef %1) #10
  %6 = icmp ne ptr %5, null
  %7 = icmp sgt i64 %1, 0
  %8 = and i1 %6, %7
  br i1 %8, label %10, label %9
9:                                                ; preds = %10, %3
  ret ptr %5
10:                                               ; preds = %3, %10
  %11 = phi i64 [ %20, %10 ], [ 0, %3 ]
  %12 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 216), align 8
  %13 = getelementptr inbounds nuw i64, ptr %0, i64 %11
  %14 = load i64, ptr %13, align 8
  %15 = getelementptr inbounds ptr, ptr %2, i64 %14
  %16 = load ptr, ptr %15, align 8
  %17 = tail call i32 %12(ptr noundef nonnull %5, i64 noundef %11, ptr noundef %16) #10
  %18 = load i64, ptr %13, align 8
  %19 = getelementptr inbounds ptr, ptr %2, i64 %18
  store ptr null, ptr %19, align 8
  %20 = add nuw nsw i64 %11, 1
  %21 = icmp slt i64 %20, %1
  br i1 %21, label %10, label %9
}
declare void @llvm.stackrestore.p0(ptr) #8
declare i64 @llvm.smax.i64(i64, i64) #9
declare i64 @llvm.smin.i64(i64, i64) #9
attributes #0 = { mustprogress nofree norecurse nosync nounwind willreturn memory(readwrite, inaccessiblemem: none) }
attributes #1 = { noreturn nounwind }
attributes #2 = { nounwind }
attributes #3 = { mustprogress nofree norecurse nosync nounwind willreturn memory(read, argmem: none, inaccessiblemem: none) }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #5 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #6 = { nounwind }
attributes #7 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #8 = { mustprogress nocallback nofree nosync nounwind willreturn }
attributes #9 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #10 = { nobuiltin nounwind }
attributes #11 = { nounwind }
attributes #12 = { nobuiltin }

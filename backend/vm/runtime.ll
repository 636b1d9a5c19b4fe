; sha256 18372393f56ccdda17d5a9563557f81c70e98706b852b9f1652897221cea8a2a
%struct.host = type { ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, ptr }
%struct.relocation = type { i64, i64, i64 }
%struct.move = type { i64, i64, i64 }
%struct.value = type { i64, ptr, ptr }
%struct.input = type { ptr, i64, [16 x ptr] }
%struct.change = type { i64, ptr, i64, i64 }
%struct.result = type { ptr, i64, i64 }
@host = internal unnamed_addr global %struct.host zeroinitializer, align 8
@pool = internal unnamed_addr global ptr null, align 8
@product.one32 = internal constant [2 x float] [float 1.000000e+00, float 0.000000e+00], align 4
@product.zero32 = internal constant [2 x float] zeroinitializer, align 4
@product.one64 = internal constant [2 x double] [double 1.000000e+00, double 0.000000e+00], align 16
@product.zero64 = internal constant [2 x double] zeroinitializer, align 16
@.str = private unnamed_addr constant [2 x i8] c"1\00", align 1
define dso_local noundef i64 @kernel(ptr nocapture noundef initializes((0, 64)) %0) local_unnamed_addr #0 {
  store ptr @worker, ptr %0, align 8
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  store ptr @launch, ptr %2, align 8
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 16
  store ptr @call, ptr %3, align 8
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  store ptr @renew, ptr %4, align 8
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 32
  store ptr @alone, ptr %5, align 8
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 40
  store ptr @product, ptr %6, align 8
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 48
  store ptr @solve, ptr %7, align 8
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 56
  store ptr @sorted_rows, ptr %8, align 8
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(448) @host, ptr noundef nonnull align 8 dereferenceable(448) %0, i64 448, i1 false)
  ret i64 0
}
define internal void @worker(ptr noundef %0) #1 {
  %2 = alloca [2 x i64], align 16
  %3 = alloca [2 x i64], align 16
  %4 = alloca [2 x i64], align 16
  %5 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 144), align 8
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
  %14 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 160), align 8
  %15 = tail call ptr %14() #12
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
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %4) #13
  %32 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 80), align 8
  %33 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 416), align 8
  %34 = trunc i64 %33 to i32
  %35 = call i32 %32(i32 noundef %34, ptr noundef nonnull %4) #12
  %36 = load i64, ptr %4, align 16
  %37 = load i64, ptr %18, align 8
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %4) #13
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
  call void @rho_pause() #12
  %49 = and i64 %48, 63
  %50 = icmp eq i64 %49, 0
  br i1 %50, label %51, label %89
51:                                               ; preds = %46
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %3) #13
  %52 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 80), align 8
  %53 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 416), align 8
  %54 = trunc i64 %53 to i32
  %55 = call i32 %52(i32 noundef %54, ptr noundef nonnull %3) #12
  %56 = load i64, ptr %3, align 16
  %57 = mul nsw i64 %56, 1000000000
  %58 = load i64, ptr %20, align 8
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %3) #13
  %59 = sub i64 %58, %47
  %60 = add i64 %59, %57
  %61 = icmp slt i64 %60, 40001
  br i1 %61, label %89, label %62
62:                                               ; preds = %51
  %63 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 112), align 8
  %64 = call i32 %63(ptr noundef nonnull %21) #12
  %65 = atomicrmw add ptr %22, i64 1 seq_cst, align 128
  %66 = load i64, ptr %23, align 8
  %67 = load atomic i64, ptr %19 seq_cst, align 128
  %68 = icmp slt i64 %67, 281474976710656
  %69 = and i64 %67, 281470681743360
  %70 = icmp eq i64 %69, 0
  %71 = or i1 %68, %70
  br i1 %71, label %72, label %77
72:                                               ; preds = %62, %72
  %73 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 128), align 8
  %74 = call i32 %73(ptr noundef nonnull %24, ptr noundef nonnull %21) #12
  %75 = load i64, ptr %23, align 8
  %76 = icmp eq i64 %75, %66
  br i1 %76, label %72, label %77
77:                                               ; preds = %72, %62
  %78 = atomicrmw add ptr %22, i64 -1 seq_cst, align 128
  %79 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 120), align 8
  %80 = call i32 %79(ptr noundef nonnull %21) #12
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %2) #13
  %81 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 80), align 8
  %82 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 416), align 8
  %83 = trunc i64 %82 to i32
  %84 = call i32 %81(i32 noundef %83, ptr noundef nonnull %2) #12
  %85 = load i64, ptr %2, align 16
  %86 = mul nsw i64 %85, 1000000000
  %87 = load i64, ptr %25, align 8
  %88 = add nsw i64 %86, %87
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %2) #13
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
  %114 = call i64 %109(ptr noundef %113) #12
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
  %7 = alloca [2 x i64], align 16
  %8 = alloca [2 x i64], align 16
  %9 = alloca [2 x i64], align 16
  %10 = alloca [2 x i64], align 16
  %11 = alloca [16 x i64], align 16
  %12 = alloca [2 x i64], align 16
  %13 = alloca [2 x i64], align 16
  %14 = alloca [1024 x i64], align 64
  %15 = alloca ptr, align 8
  call void @llvm.lifetime.start.p0(i64 8192, ptr nonnull %14) #13
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %17 = load i64, ptr %16, align 8
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %19 = load i64, ptr %18, align 8
  %20 = icmp eq i64 %19, 0
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %22 = load i64, ptr %21, align 8
  %23 = tail call i64 @llvm.smin.i64(i64 %22, i64 1024)
  %24 = select i1 %20, i64 %22, i64 %23
  %25 = mul nsw i64 %24, %17
  %26 = select i1 %20, i64 0, i64 %17
  %27 = add i64 %24, %26
  %28 = add i64 %27, %25
  %29 = icmp slt i64 %28, 1025
  br i1 %29, label %30, label %35
30:                                               ; preds = %3
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %32 = load i64, ptr %31, align 8
  %33 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 432), align 8
  %34 = icmp slt i64 %32, %33
  br i1 %34, label %42, label %35
35:                                               ; preds = %30, %3
  %36 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 64), align 8
  %37 = shl i64 %28, 3
  %38 = tail call ptr %36(i64 noundef %37) #12
  %39 = icmp eq ptr %38, null
  br i1 %39, label %734, label %40
40:                                               ; preds = %35
  %41 = load i64, ptr %18, align 8
  br label %42
42:                                               ; preds = %40, %30
  %43 = phi i64 [ %41, %40 ], [ %19, %30 ]
  %44 = phi ptr [ %38, %40 ], [ %14, %30 ]
  %45 = getelementptr inbounds i64, ptr %44, i64 %25
  %46 = getelementptr inbounds i64, ptr %45, i64 %24
  %47 = icmp eq i64 %43, 0
  br i1 %47, label %48, label %56
48:                                               ; preds = %42
  %49 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %52 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %53 = load i64, ptr %52, align 8
  %54 = getelementptr inbounds %struct.relocation, ptr %51, i64 %53
  %55 = shl i64 %50, 3
  br label %117
56:                                               ; preds = %42
  %57 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %58 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %59 = load i64, ptr %58, align 8
  %60 = getelementptr inbounds %struct.relocation, ptr %57, i64 %59
  %61 = icmp sgt i64 %43, 0
  br i1 %61, label %62, label %117
62:                                               ; preds = %56
  %63 = and i64 %43, 7
  %64 = icmp ult i64 %43, 8
  br i1 %64, label %104, label %65
65:                                               ; preds = %62
  %66 = and i64 %43, 9223372036854775800
  br label %67
67:                                               ; preds = %67, %65
  %68 = phi ptr [ %60, %65 ], [ %101, %67 ]
  %69 = phi i64 [ 0, %65 ], [ %102, %67 ]
  %70 = getelementptr inbounds nuw i8, ptr %68, i64 48
  %71 = getelementptr inbounds nuw i8, ptr %68, i64 40
  %72 = load i64, ptr %71, align 8
  %73 = getelementptr inbounds %struct.move, ptr %70, i64 %72
  %74 = getelementptr inbounds nuw i8, ptr %73, i64 48
  %75 = getelementptr inbounds nuw i8, ptr %73, i64 40
  %76 = load i64, ptr %75, align 8
  %77 = getelementptr inbounds %struct.move, ptr %74, i64 %76
  %78 = getelementptr inbounds nuw i8, ptr %77, i64 48
  %79 = getelementptr inbounds nuw i8, ptr %77, i64 40
  %80 = load i64, ptr %79, align 8
  %81 = getelementptr inbounds %struct.move, ptr %78, i64 %80
  %82 = getelementptr inbounds nuw i8, ptr %81, i64 48
  %83 = getelementptr inbounds nuw i8, ptr %81, i64 40
  %84 = load i64, ptr %83, align 8
  %85 = getelementptr inbounds %struct.move, ptr %82, i64 %84
  %86 = getelementptr inbounds nuw i8, ptr %85, i64 48
  %87 = getelementptr inbounds nuw i8, ptr %85, i64 40
  %88 = load i64, ptr %87, align 8
  %89 = getelementptr inbounds %struct.move, ptr %86, i64 %88
  %90 = getelementptr inbounds nuw i8, ptr %89, i64 48
  %91 = getelementptr inbounds nuw i8, ptr %89, i64 40
  %92 = load i64, ptr %91, align 8
  %93 = getelementptr inbounds %struct.move, ptr %90, i64 %92
  %94 = getelementptr inbounds nuw i8, ptr %93, i64 48
  %95 = getelementptr inbounds nuw i8, ptr %93, i64 40
  %96 = load i64, ptr %95, align 8
  %97 = getelementptr inbounds %struct.move, ptr %94, i64 %96
  %98 = getelementptr inbounds nuw i8, ptr %97, i64 48
  %99 = getelementptr inbounds nuw i8, ptr %97, i64 40
  %100 = load i64, ptr %99, align 8
  %101 = getelementptr inbounds %struct.move, ptr %98, i64 %100
  %102 = add i64 %69, 8
  %103 = icmp eq i64 %102, %66
  br i1 %103, label %104, label %67
104:                                              ; preds = %67, %62
  %105 = phi ptr [ poison, %62 ], [ %101, %67 ]
  %106 = phi ptr [ %60, %62 ], [ %101, %67 ]
  %107 = icmp eq i64 %63, 0
  br i1 %107, label %117, label %108
108:                                              ; preds = %104, %108
  %109 = phi ptr [ %114, %108 ], [ %106, %104 ]
  %110 = phi i64 [ %115, %108 ], [ 0, %104 ]
  %111 = getelementptr inbounds nuw i8, ptr %109, i64 48
  %112 = getelementptr inbounds nuw i8, ptr %109, i64 40
  %113 = load i64, ptr %112, align 8
  %114 = getelementptr inbounds %struct.move, ptr %111, i64 %113
  %115 = add i64 %110, 1
  %116 = icmp eq i64 %115, %63
  br i1 %116, label %117, label %108
117:                                              ; preds = %104, %108, %48, %56
  %118 = phi ptr [ %58, %56 ], [ %52, %48 ], [ %58, %108 ], [ %58, %104 ]
  %119 = phi ptr [ %57, %56 ], [ %51, %48 ], [ %57, %108 ], [ %57, %104 ]
  %120 = phi ptr [ %46, %56 ], [ %44, %48 ], [ %46, %108 ], [ %46, %104 ]
  %121 = phi i64 [ 8, %56 ], [ %55, %48 ], [ 8, %108 ], [ 8, %104 ]
  %122 = phi ptr [ %60, %56 ], [ %54, %48 ], [ %105, %104 ], [ %114, %108 ]
  %123 = load i64, ptr %16, align 8
  %124 = mul i64 %123, %121
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 %120, ptr nonnull align 8 %122, i64 %124, i1 false)
  %125 = load i64, ptr %118, align 8
  %126 = icmp sgt i64 %125, 0
  br i1 %126, label %127, label %144
127:                                              ; preds = %117
  %128 = getelementptr inbounds nuw i8, ptr %0, i64 64
  br label %129
129:                                              ; preds = %127, %129
  %130 = phi ptr [ %140, %129 ], [ %119, %127 ]
  %131 = getelementptr inbounds nuw i8, ptr %130, i64 8
  %132 = load i64, ptr %131, align 8
  %133 = getelementptr inbounds i64, ptr %1, i64 %132
  %134 = load i64, ptr %133, align 8
  %135 = getelementptr inbounds nuw i8, ptr %130, i64 16
  %136 = load i64, ptr %135, align 8
  %137 = add nsw i64 %136, %134
  %138 = load i64, ptr %130, align 8
  %139 = getelementptr inbounds i64, ptr %120, i64 %138
  store i64 %137, ptr %139, align 8
  %140 = getelementptr inbounds nuw i8, ptr %130, i64 24
  %141 = load i64, ptr %118, align 8
  %142 = getelementptr inbounds %struct.relocation, ptr %128, i64 %141
  %143 = icmp ult ptr %140, %142
  br i1 %143, label %129, label %144
144:                                              ; preds = %129, %117
  %145 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %146 = load i64, ptr %145, align 8
  %147 = icmp eq i64 %146, 1
  %148 = icmp eq ptr %44, %14
  %149 = and i1 %148, %147
  %150 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %151 = load i64, ptr %150, align 8
  %152 = icmp eq i64 %151, 0
  br i1 %149, label %153, label %163
153:                                              ; preds = %144
  br i1 %152, label %155, label %154
154:                                              ; preds = %153
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %15)
  br label %164
155:                                              ; preds = %153
  %156 = load ptr, ptr %0, align 8
  %157 = call i64 %156(ptr noundef nonnull %44) #12
  %158 = icmp eq i64 %157, 0
  br i1 %158, label %734, label %159
159:                                              ; preds = %155
  %160 = getelementptr i64, ptr %44, i64 %17
  %161 = getelementptr i8, ptr %160, i64 -8
  %162 = load i64, ptr %161, align 8
  store i64 %162, ptr %2, align 8
  br label %734
163:                                              ; preds = %144
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %15)
  br i1 %152, label %168, label %164
164:                                              ; preds = %154, %163
  %165 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 296), align 8
  %166 = call ptr %165() #12
  %167 = load i64, ptr %145, align 8
  br label %168
168:                                              ; preds = %163, %164
  %169 = phi i64 [ %167, %164 ], [ %146, %163 ]
  %170 = phi ptr [ %166, %164 ], [ null, %163 ]
  store ptr %170, ptr %15, align 8
  %171 = icmp sgt i64 %169, 0
  br i1 %171, label %172, label %205
172:                                              ; preds = %168
  %173 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %174 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %175 = getelementptr inbounds nuw i8, ptr %13, i64 8
  %176 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %177 = getelementptr inbounds nuw i8, ptr %5, i64 8
  %178 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %179 = getelementptr inbounds nuw i8, ptr %12, i64 8
  %180 = getelementptr inbounds nuw i8, ptr %11, i64 8
  %181 = getelementptr inbounds nuw i8, ptr %11, i64 16
  %182 = getelementptr inbounds nuw i8, ptr %11, i64 24
  %183 = getelementptr inbounds nuw i8, ptr %11, i64 32
  %184 = getelementptr inbounds nuw i8, ptr %11, i64 40
  %185 = getelementptr inbounds nuw i8, ptr %11, i64 48
  %186 = getelementptr inbounds nuw i8, ptr %11, i64 56
  %187 = getelementptr inbounds nuw i8, ptr %11, i64 64
  %188 = getelementptr inbounds nuw i8, ptr %11, i64 72
  %189 = getelementptr inbounds nuw i8, ptr %11, i64 80
  %190 = getelementptr inbounds nuw i8, ptr %11, i64 88
  %191 = getelementptr inbounds nuw i8, ptr %11, i64 96
  %192 = getelementptr inbounds nuw i8, ptr %11, i64 104
  %193 = getelementptr inbounds nuw i8, ptr %11, i64 112
  %194 = getelementptr inbounds nuw i8, ptr %11, i64 120
  %195 = getelementptr inbounds nuw i8, ptr %10, i64 8
  %196 = getelementptr inbounds nuw i8, ptr %9, i64 8
  %197 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %198 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %199 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %200 = getelementptr i8, ptr %44, i64 -8
  %201 = icmp ne i64 %17, 0
  br label %209
202:                                              ; preds = %625, %706, %622, %720
  %203 = phi i64 [ -2, %622 ], [ %716, %720 ], [ -2, %625 ], [ %707, %706 ]
  %204 = load ptr, ptr %15, align 8
  br label %205
205:                                              ; preds = %202, %168
  %206 = phi ptr [ %170, %168 ], [ %204, %202 ]
  %207 = phi i64 [ 0, %168 ], [ %203, %202 ]
  %208 = icmp eq ptr %206, null
  br i1 %208, label %730, label %728
209:                                              ; preds = %172, %706
  %210 = phi i64 [ %169, %172 ], [ %709, %706 ]
  %211 = phi i64 [ 0, %172 ], [ %708, %706 ]
  %212 = sub nsw i64 %210, %211
  %213 = call i64 @llvm.smin.i64(i64 %212, i64 %24)
  %214 = load i64, ptr %18, align 8
  %215 = icmp ne i64 %214, 0
  %216 = icmp sgt i64 %213, 0
  %217 = select i1 %215, i1 %216, i1 false
  br i1 %217, label %631, label %218
218:                                              ; preds = %700, %209
  %219 = shl i64 %213, 3
  call void @llvm.memset.p0.i64(ptr nonnull align 8 %45, i8 0, i64 %219, i1 false)
  %220 = load ptr, ptr %15, align 8
  %221 = icmp ne ptr %220, null
  %222 = select i1 %221, ptr %15, ptr null
  br i1 %221, label %225, label %223
223:                                              ; preds = %218
  %224 = load i64, ptr %16, align 8
  br label %240
225:                                              ; preds = %218
  %226 = load i64, ptr %174, align 8
  %227 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 432), align 8
  %228 = icmp slt i64 %226, %227
  %229 = load i64, ptr %16, align 8
  br i1 %228, label %240, label %230
230:                                              ; preds = %225
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %13) #13
  %231 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 80), align 8
  %232 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 416), align 8
  %233 = trunc i64 %232 to i32
  %234 = call i32 %231(i32 noundef %233, ptr noundef nonnull %13) #12
  %235 = load i64, ptr %13, align 16
  %236 = mul nsw i64 %235, 1000000000
  %237 = load i64, ptr %175, align 8
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %13) #13
  %238 = add i64 %237, 2000000
  %239 = add i64 %238, %236
  br label %240
240:                                              ; preds = %230, %225, %223
  %241 = phi i64 [ %229, %230 ], [ %229, %225 ], [ %224, %223 ]
  %242 = phi i1 [ true, %230 ], [ false, %225 ], [ false, %223 ]
  %243 = phi i64 [ %239, %230 ], [ 0, %225 ], [ 0, %223 ]
  %244 = load i64, ptr %176, align 8
  %245 = icmp ne i64 %244, 0
  %246 = icmp sgt i64 %213, 1
  %247 = and i1 %246, %245
  br i1 %247, label %248, label %267
248:                                              ; preds = %240
  %249 = load i64, ptr %174, align 8
  %250 = load ptr, ptr @pool, align 8
  %251 = icmp eq ptr %250, null
  br i1 %251, label %268, label %252
252:                                              ; preds = %248
  %253 = cmpxchg ptr %250, i64 0, i64 1 seq_cst monotonic, align 8
  %254 = extractvalue { i64, i1 } %253, 1
  br i1 %254, label %255, label %268
255:                                              ; preds = %252
  %256 = getelementptr inbounds nuw i8, ptr %250, i64 8
  %257 = load i64, ptr %256, align 8
  %258 = icmp ne i64 %257, 0
  %259 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 432), align 8
  %260 = icmp slt i64 %249, %259
  %261 = select i1 %258, i1 %260, i1 false
  br i1 %261, label %262, label %268
262:                                              ; preds = %255
  %263 = call i64 @llvm.smax.i64(i64 %249, i64 1000)
  %264 = icmp sgt i64 %257, %263
  %265 = sub nsw i64 %257, %263
  %266 = select i1 %264, i64 %265, i64 0
  store i64 %266, ptr %256, align 8
  store atomic i64 0, ptr %250 seq_cst, align 128
  br label %268
267:                                              ; preds = %240
  br i1 %216, label %268, label %706
268:                                              ; preds = %267, %262, %255, %252, %248
  %269 = phi ptr [ null, %248 ], [ null, %252 ], [ %250, %255 ], [ null, %262 ], [ null, %267 ]
  br label %270
270:                                              ; preds = %268, %617
  %271 = phi i64 [ %620, %617 ], [ 0, %268 ]
  %272 = phi ptr [ %619, %617 ], [ %269, %268 ]
  %273 = phi i64 [ %618, %617 ], [ %243, %268 ]
  %274 = icmp eq ptr %272, null
  %275 = load ptr, ptr %0, align 8
  %276 = mul nsw i64 %271, %241
  %277 = getelementptr inbounds i64, ptr %44, i64 %276
  br i1 %274, label %556, label %278
278:                                              ; preds = %270
  %279 = shl i64 %241, 3
  %280 = sub nsw i64 %213, %271
  %281 = getelementptr inbounds nuw i64, ptr %45, i64 %271
  %282 = load i64, ptr %176, align 8
  %283 = load i64, ptr %174, align 8
  %284 = select i1 %242, ptr %222, ptr null
  %285 = getelementptr inbounds nuw i8, ptr %272, i64 136
  store ptr %275, ptr %285, align 8
  %286 = getelementptr inbounds nuw i8, ptr %272, i64 144
  store ptr %277, ptr %286, align 16
  %287 = getelementptr inbounds nuw i8, ptr %272, i64 152
  store i64 %279, ptr %287, align 8
  %288 = getelementptr inbounds nuw i8, ptr %272, i64 160
  store i64 %280, ptr %288, align 32
  %289 = getelementptr inbounds nuw i8, ptr %272, i64 168
  store ptr %281, ptr %289, align 8
  %290 = getelementptr inbounds nuw i8, ptr %272, i64 128
  %291 = shl nsw i64 %280, 48
  %292 = shl nsw i64 %282, 32
  %293 = add nsw i64 %292, %291
  store atomic i64 %293, ptr %290 seq_cst, align 128
  %294 = getelementptr inbounds nuw i8, ptr %272, i64 256
  %295 = load atomic i64, ptr %294 seq_cst, align 128
  %296 = icmp eq i64 %295, 0
  br i1 %296, label %426, label %297
297:                                              ; preds = %278
  %298 = icmp sgt i64 %283, 500000
  br i1 %298, label %336, label %299
299:                                              ; preds = %297
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %12) #13
  %300 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 80), align 8
  %301 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 416), align 8
  %302 = trunc i64 %301 to i32
  %303 = call i32 %300(i32 noundef %302, ptr noundef nonnull %12) #12
  %304 = load i64, ptr %12, align 16
  %305 = mul nsw i64 %304, 1000000000
  %306 = load i64, ptr %179, align 8
  %307 = add nsw i64 %305, %306
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %12) #13
  %308 = getelementptr inbounds nuw i8, ptr %272, i64 16
  %309 = load i64, ptr %308, align 16
  %310 = sub i64 %307, %309
  %311 = icmp slt i64 %310, 50000
  %312 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 424), align 8
  %313 = icmp sgt i64 %283, %312
  %314 = select i1 %311, i1 true, i1 %313
  br i1 %314, label %315, label %426
315:                                              ; preds = %299
  %316 = getelementptr inbounds nuw i8, ptr %272, i64 40
  %317 = load i64, ptr %316, align 8
  %318 = icmp eq i64 %317, 0
  br i1 %318, label %321, label %319
319:                                              ; preds = %315
  %320 = add nsw i64 %317, -1
  store i64 %320, ptr %316, align 8
  br label %426
321:                                              ; preds = %315
  %322 = getelementptr inbounds nuw i8, ptr %272, i64 24
  %323 = load i64, ptr %322, align 8
  %324 = getelementptr inbounds nuw i8, ptr %272, i64 32
  %325 = load i64, ptr %324, align 32
  %326 = icmp eq i64 %323, %325
  br i1 %326, label %327, label %333
327:                                              ; preds = %321
  %328 = getelementptr inbounds nuw i8, ptr %272, i64 48
  %329 = load i64, ptr %328, align 16
  %330 = shl i64 %329, 1
  %331 = and i64 %330, 126
  %332 = or disjoint i64 %331, 1
  br label %333
333:                                              ; preds = %327, %321
  %334 = phi i64 [ %332, %327 ], [ 0, %321 ]
  %335 = getelementptr inbounds nuw i8, ptr %272, i64 48
  store i64 %334, ptr %335, align 16
  store i64 %323, ptr %324, align 32
  store i64 %334, ptr %316, align 8
  br label %336
336:                                              ; preds = %333, %297
  %337 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 144), align 8
  %338 = icmp eq ptr %337, null
  br i1 %338, label %414, label %339
339:                                              ; preds = %336
  %340 = call i32 %337() #12
  %341 = sext i32 %340 to i64
  %342 = getelementptr inbounds nuw i8, ptr %272, i64 576
  %343 = load atomic i64, ptr %342 seq_cst, align 64
  %344 = shl nsw i64 %341, 8
  %345 = or i64 %344, %343
  %346 = getelementptr inbounds nuw i8, ptr %272, i64 584
  %347 = load i64, ptr %346, align 8
  %348 = icmp eq i64 %345, %347
  %349 = icmp sgt i64 %343, 8
  %350 = or i1 %349, %348
  %351 = icmp ugt i32 %340, 1023
  %352 = or i1 %351, %350
  br i1 %352, label %414, label %353
353:                                              ; preds = %339
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %11) #13
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 16 dereferenceable(128) %11, i8 0, i64 128, i1 false)
  %354 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 152), align 8
  %355 = call i32 %354(i32 noundef 0, i64 noundef 128, ptr noundef nonnull %11) #12
  %356 = icmp eq i32 %355, 0
  br i1 %356, label %357, label %413
357:                                              ; preds = %353
  %358 = and i64 %341, 63
  %359 = shl nuw i64 1, %358
  %360 = xor i64 %359, -1
  %361 = lshr i64 %341, 6
  %362 = getelementptr inbounds nuw [16 x i64], ptr %11, i64 0, i64 %361
  %363 = load i64, ptr %362, align 8
  %364 = and i64 %363, %360
  store i64 %364, ptr %362, align 8
  %365 = load i64, ptr %11, align 16
  %366 = load i64, ptr %180, align 8
  %367 = or i64 %366, %365
  %368 = load i64, ptr %181, align 16
  %369 = or i64 %367, %368
  %370 = load i64, ptr %182, align 8
  %371 = or i64 %369, %370
  %372 = load i64, ptr %183, align 16
  %373 = or i64 %371, %372
  %374 = load i64, ptr %184, align 8
  %375 = or i64 %373, %374
  %376 = load i64, ptr %185, align 16
  %377 = or i64 %375, %376
  %378 = load i64, ptr %186, align 8
  %379 = or i64 %377, %378
  %380 = load i64, ptr %187, align 16
  %381 = or i64 %379, %380
  %382 = load i64, ptr %188, align 8
  %383 = or i64 %381, %382
  %384 = load i64, ptr %189, align 16
  %385 = or i64 %383, %384
  %386 = load i64, ptr %190, align 8
  %387 = or i64 %385, %386
  %388 = load i64, ptr %191, align 16
  %389 = or i64 %387, %388
  %390 = load i64, ptr %192, align 8
  %391 = or i64 %389, %390
  %392 = load i64, ptr %193, align 16
  %393 = or i64 %391, %392
  %394 = load i64, ptr %194, align 8
  %395 = or i64 %393, %394
  %396 = icmp eq i64 %395, 0
  br i1 %396, label %413, label %397
397:                                              ; preds = %357
  store i64 %345, ptr %346, align 8
  %398 = icmp sgt i64 %343, 0
  br i1 %398, label %399, label %413
399:                                              ; preds = %397
  %400 = getelementptr inbounds nuw i8, ptr %272, i64 592
  br label %401
401:                                              ; preds = %410, %399
  %402 = phi i64 [ 0, %399 ], [ %411, %410 ]
  %403 = getelementptr inbounds nuw [8 x ptr], ptr %400, i64 0, i64 %402
  %404 = load atomic i64, ptr %403 seq_cst, align 8
  %405 = icmp eq i64 %404, 0
  br i1 %405, label %410, label %406
406:                                              ; preds = %401
  %407 = inttoptr i64 %404 to ptr
  %408 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 168), align 8
  %409 = call i32 %408(ptr noundef nonnull %407, i64 noundef 128, ptr noundef nonnull %11) #12
  br label %410
410:                                              ; preds = %406, %401
  %411 = add nuw nsw i64 %402, 1
  %412 = icmp eq i64 %411, %343
  br i1 %412, label %413, label %401
413:                                              ; preds = %410, %397, %357, %353
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %11) #13
  br label %414
414:                                              ; preds = %413, %339, %336
  %415 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 112), align 8
  %416 = getelementptr inbounds nuw i8, ptr %272, i64 320
  %417 = call i32 %415(ptr noundef nonnull %416) #12
  %418 = getelementptr inbounds nuw i8, ptr %272, i64 264
  %419 = load i64, ptr %418, align 8
  %420 = add nsw i64 %419, 1
  store i64 %420, ptr %418, align 8
  %421 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 136), align 8
  %422 = getelementptr inbounds nuw i8, ptr %272, i64 448
  %423 = call i32 %421(ptr noundef nonnull %422) #12
  %424 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 120), align 8
  %425 = call i32 %424(ptr noundef nonnull %416) #12
  br label %426
426:                                              ; preds = %414, %319, %299, %278
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %10) #13
  %427 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 80), align 8
  %428 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 416), align 8
  %429 = trunc i64 %428 to i32
  %430 = call i32 %427(i32 noundef %429, ptr noundef nonnull %10) #12
  %431 = load i64, ptr %10, align 16
  %432 = mul nsw i64 %431, 1000000000
  %433 = load i64, ptr %195, align 8
  %434 = add nsw i64 %432, %433
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %10) #13
  %435 = atomicrmw add ptr %290, i64 -281474976710656 seq_cst, align 128
  %436 = icmp sgt i64 %435, 281474976710655
  br i1 %436, label %437, label %500
437:                                              ; preds = %426
  %438 = add nsw i64 %434, 2000000
  %439 = and i1 %221, %242
  br label %440
440:                                              ; preds = %492, %437
  %441 = phi i64 [ %438, %437 ], [ %494, %492 ]
  %442 = phi i64 [ 0, %437 ], [ %451, %492 ]
  %443 = phi i32 [ 0, %437 ], [ %493, %492 ]
  %444 = mul nsw i64 %442, %279
  %445 = getelementptr inbounds i8, ptr %277, i64 %444
  %446 = call i64 %275(ptr noundef nonnull %445) #12
  %447 = icmp eq i64 %446, 0
  br i1 %447, label %450, label %448
448:                                              ; preds = %440
  %449 = getelementptr inbounds nuw i64, ptr %281, i64 %442
  store i64 %446, ptr %449, align 8
  br label %450
450:                                              ; preds = %448, %440
  %451 = add nuw nsw i64 %442, 1
  br i1 %439, label %452, label %492
452:                                              ; preds = %450
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %9) #13
  %453 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 80), align 8
  %454 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 416), align 8
  %455 = trunc i64 %454 to i32
  %456 = call i32 %453(i32 noundef %455, ptr noundef nonnull %9) #12
  %457 = load i64, ptr %9, align 16
  %458 = mul nsw i64 %457, 1000000000
  %459 = load i64, ptr %196, align 8
  %460 = add nsw i64 %458, %459
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %9) #13
  %461 = icmp slt i64 %460, %441
  br i1 %461, label %492, label %462
462:                                              ; preds = %452
  %463 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 304), align 8
  %464 = load ptr, ptr %284, align 8
  call void %463(ptr noundef %464) #12
  %465 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %466 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 440), align 8
  %467 = call ptr %465(ptr noundef %466, ptr noundef null, i64 noundef 0, ptr noundef null) #12
  %468 = icmp eq ptr %467, null
  br i1 %468, label %471, label %469
469:                                              ; preds = %462
  %470 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %470(ptr noundef nonnull %467) #12
  br label %471
471:                                              ; preds = %469, %462
  %472 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 296), align 8
  %473 = call ptr %472() #12
  store ptr %473, ptr %284, align 8
  %474 = zext i1 %468 to i32
  br i1 %468, label %475, label %482
475:                                              ; preds = %471, %478
  %476 = load atomic i64, ptr %290 seq_cst, align 128
  %477 = icmp sgt i64 %476, 281474976710655
  br i1 %477, label %478, label %482
478:                                              ; preds = %475
  %479 = and i64 %476, 281474976710655
  %480 = cmpxchg ptr %290, i64 %476, i64 %479 seq_cst monotonic, align 8
  %481 = extractvalue { i64, i1 } %480, 1
  br i1 %481, label %482, label %475
482:                                              ; preds = %478, %475, %471
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %8) #13
  %483 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 80), align 8
  %484 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 416), align 8
  %485 = trunc i64 %484 to i32
  %486 = call i32 %483(i32 noundef %485, ptr noundef nonnull %8) #12
  %487 = load i64, ptr %8, align 16
  %488 = mul nsw i64 %487, 1000000000
  %489 = load i64, ptr %197, align 8
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %8) #13
  %490 = add i64 %489, 2000000
  %491 = add i64 %490, %488
  br label %492
492:                                              ; preds = %482, %452, %450
  %493 = phi i32 [ %474, %482 ], [ %443, %452 ], [ %443, %450 ]
  %494 = phi i64 [ %491, %482 ], [ %441, %452 ], [ %441, %450 ]
  %495 = atomicrmw add ptr %290, i64 -281474976710656 seq_cst, align 128
  %496 = icmp sgt i64 %495, 281474976710655
  br i1 %496, label %440, label %497
497:                                              ; preds = %492
  %498 = xor i64 %442, -1
  %499 = icmp ne i32 %493, 0
  br label %500
500:                                              ; preds = %497, %426
  %501 = phi i1 [ false, %426 ], [ %499, %497 ]
  %502 = phi i64 [ 0, %426 ], [ %498, %497 ]
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %7) #13
  %503 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 80), align 8
  %504 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 416), align 8
  %505 = trunc i64 %504 to i32
  %506 = call i32 %503(i32 noundef %505, ptr noundef nonnull %7) #12
  %507 = load i64, ptr %7, align 16
  %508 = mul nsw i64 %507, 1000000000
  %509 = load i64, ptr %198, align 8
  %510 = add nsw i64 %508, %509
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %7) #13
  %511 = sdiv i64 %283, %280
  %512 = sdiv i64 %511, 16
  %513 = add nsw i64 %512, 2000
  %514 = load atomic i64, ptr %290 acquire, align 128
  %515 = and i64 %514, 281470681743360
  %516 = icmp eq i64 %515, %292
  br i1 %516, label %517, label %536
517:                                              ; preds = %543, %500
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %6) #13
  %518 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 80), align 8
  %519 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 416), align 8
  %520 = trunc i64 %519 to i32
  %521 = call i32 %518(i32 noundef %520, ptr noundef nonnull %6) #12
  %522 = load i64, ptr %6, align 16
  %523 = mul nsw i64 %522, 1000000000
  %524 = load i64, ptr %199, align 8
  %525 = add nsw i64 %523, %524
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %6) #13
  %526 = sub nsw i64 %525, %510
  %527 = sub i64 %510, %434
  %528 = add i64 %527, 50000
  %529 = icmp sgt i64 %526, %528
  %530 = getelementptr inbounds nuw i8, ptr %272, i64 56
  %531 = load i64, ptr %530, align 8
  %532 = add i64 %502, %280
  %533 = getelementptr inbounds nuw i8, ptr %272, i64 24
  %534 = load i64, ptr %533, align 8
  %535 = add nsw i64 %532, %534
  store i64 %535, ptr %533, align 8
  br i1 %529, label %548, label %554
536:                                              ; preds = %500, %543
  %537 = phi i64 [ %544, %543 ], [ 0, %500 ]
  %538 = icmp slt i64 %537, %513
  br i1 %538, label %539, label %540
539:                                              ; preds = %536
  call void @rho_pause() #12
  br label %543
540:                                              ; preds = %536
  %541 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 88), align 8
  %542 = call i32 %541() #12
  br label %543
543:                                              ; preds = %540, %539
  %544 = add nuw nsw i64 %537, 1
  %545 = load atomic i64, ptr %290 acquire, align 128
  %546 = and i64 %545, 281470681743360
  %547 = icmp eq i64 %546, %292
  br i1 %547, label %517, label %536
548:                                              ; preds = %517
  %549 = shl nsw i64 %531, 1
  %550 = call i64 @llvm.smin.i64(i64 %549, i64 248)
  %551 = add nsw i64 %550, 8
  %552 = mul nsw i64 %551, %526
  %553 = sdiv i64 %552, 4
  br label %625
554:                                              ; preds = %517
  %555 = sdiv i64 %531, 2
  br label %625
556:                                              ; preds = %270
  %557 = call i64 %275(ptr noundef nonnull %277) #12
  %558 = getelementptr inbounds nuw i64, ptr %45, i64 %271
  store i64 %557, ptr %558, align 8
  %559 = icmp eq i64 %557, 0
  br i1 %559, label %560, label %630
560:                                              ; preds = %556
  br i1 %242, label %561, label %617
561:                                              ; preds = %560
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %5) #13
  %562 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 80), align 8
  %563 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 416), align 8
  %564 = trunc i64 %563 to i32
  %565 = call i32 %562(i32 noundef %564, ptr noundef nonnull %5) #12
  %566 = load i64, ptr %5, align 16
  %567 = mul nsw i64 %566, 1000000000
  %568 = load i64, ptr %177, align 8
  %569 = add nsw i64 %567, %568
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %5) #13
  %570 = icmp slt i64 %569, %273
  br i1 %570, label %591, label %571
571:                                              ; preds = %561
  %572 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 304), align 8
  %573 = load ptr, ptr %222, align 8
  call void %572(ptr noundef %573) #12
  %574 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %575 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 440), align 8
  %576 = call ptr %574(ptr noundef %575, ptr noundef null, i64 noundef 0, ptr noundef null) #12
  %577 = icmp eq ptr %576, null
  br i1 %577, label %622, label %578
578:                                              ; preds = %571
  %579 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %579(ptr noundef nonnull %576) #12
  %580 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 296), align 8
  %581 = call ptr %580() #12
  store ptr %581, ptr %222, align 8
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %4) #13
  %582 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 80), align 8
  %583 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 416), align 8
  %584 = trunc i64 %583 to i32
  %585 = call i32 %582(i32 noundef %584, ptr noundef nonnull %4) #12
  %586 = load i64, ptr %4, align 16
  %587 = mul nsw i64 %586, 1000000000
  %588 = load i64, ptr %178, align 8
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %4) #13
  %589 = add i64 %588, 2000000
  %590 = add i64 %589, %587
  br label %591
591:                                              ; preds = %578, %561
  %592 = phi i64 [ %590, %578 ], [ %273, %561 ]
  %593 = load i64, ptr %176, align 8
  %594 = icmp ne i64 %593, 0
  %595 = add nuw nsw i64 %271, 2
  %596 = icmp slt i64 %595, %213
  %597 = select i1 %594, i1 %596, i1 false
  br i1 %597, label %598, label %617
598:                                              ; preds = %591
  %599 = load i64, ptr %174, align 8
  %600 = load ptr, ptr @pool, align 8
  %601 = icmp eq ptr %600, null
  br i1 %601, label %617, label %602
602:                                              ; preds = %598
  %603 = cmpxchg ptr %600, i64 0, i64 1 seq_cst monotonic, align 8
  %604 = extractvalue { i64, i1 } %603, 1
  br i1 %604, label %605, label %617
605:                                              ; preds = %602
  %606 = getelementptr inbounds nuw i8, ptr %600, i64 8
  %607 = load i64, ptr %606, align 8
  %608 = icmp ne i64 %607, 0
  %609 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 432), align 8
  %610 = icmp slt i64 %599, %609
  %611 = select i1 %608, i1 %610, i1 false
  br i1 %611, label %612, label %617
612:                                              ; preds = %605
  %613 = call i64 @llvm.smax.i64(i64 %599, i64 1000)
  %614 = icmp sgt i64 %607, %613
  %615 = sub nsw i64 %607, %613
  %616 = select i1 %614, i64 %615, i64 0
  store i64 %616, ptr %606, align 8
  store atomic i64 0, ptr %600 seq_cst, align 128
  br label %617
617:                                              ; preds = %612, %605, %602, %598, %591, %560
  %618 = phi i64 [ %592, %591 ], [ %273, %560 ], [ %592, %598 ], [ %592, %602 ], [ %592, %605 ], [ %592, %612 ]
  %619 = phi ptr [ null, %591 ], [ null, %560 ], [ null, %598 ], [ null, %602 ], [ %600, %605 ], [ null, %612 ]
  %620 = add nuw nsw i64 %271, 1
  %621 = icmp eq i64 %620, %213
  br i1 %621, label %630, label %270
622:                                              ; preds = %571
  %623 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 296), align 8
  %624 = call ptr %623() #12
  store ptr %624, ptr %222, align 8
  br label %202
625:                                              ; preds = %548, %554
  %626 = phi i64 [ %553, %548 ], [ 0, %554 ]
  %627 = phi i64 [ %551, %548 ], [ %555, %554 ]
  %628 = getelementptr inbounds nuw i8, ptr %272, i64 8
  store i64 %626, ptr %628, align 8
  store i64 %627, ptr %530, align 8
  %629 = getelementptr inbounds nuw i8, ptr %272, i64 16
  store i64 %525, ptr %629, align 16
  store atomic i64 0, ptr %272 release, align 128
  br i1 %501, label %202, label %630
630:                                              ; preds = %617, %556, %625
  br i1 %216, label %713, label %706
631:                                              ; preds = %209, %700
  %632 = phi i64 [ %702, %700 ], [ 0, %209 ]
  %633 = mul nsw i64 %632, %17
  %634 = getelementptr inbounds i64, ptr %44, i64 %633
  %635 = load i64, ptr %118, align 8
  %636 = load i64, ptr %16, align 8
  %637 = shl i64 %636, 3
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 %634, ptr nonnull readonly align 8 %46, i64 %637, i1 false)
  %638 = load i64, ptr %18, align 8
  %639 = icmp sgt i64 %638, 0
  br i1 %639, label %640, label %700
640:                                              ; preds = %631
  %641 = add nsw i64 %632, %211
  %642 = getelementptr inbounds %struct.relocation, ptr %173, i64 %635
  br label %643
643:                                              ; preds = %678, %640
  %644 = phi i64 [ %653, %678 ], [ %641, %640 ]
  %645 = phi ptr [ %679, %678 ], [ %642, %640 ]
  %646 = phi i64 [ %680, %678 ], [ 0, %640 ]
  %647 = getelementptr inbounds nuw i8, ptr %645, i64 32
  %648 = load i64, ptr %647, align 8
  %649 = srem i64 %644, %648
  %650 = getelementptr inbounds nuw i8, ptr %645, i64 24
  %651 = load i64, ptr %650, align 8
  %652 = mul nsw i64 %651, %649
  %653 = sdiv i64 %644, %648
  %654 = getelementptr inbounds nuw i8, ptr %645, i64 8
  %655 = load i64, ptr %654, align 8
  %656 = getelementptr inbounds i64, ptr %634, i64 %655
  store i64 %652, ptr %656, align 8
  %657 = add nsw i64 %649, 1
  %658 = load i64, ptr %647, align 8
  %659 = icmp eq i64 %657, %658
  br i1 %659, label %660, label %663
660:                                              ; preds = %643
  %661 = getelementptr inbounds nuw i8, ptr %645, i64 16
  %662 = load i64, ptr %661, align 8
  br label %666
663:                                              ; preds = %643
  %664 = load i64, ptr %650, align 8
  %665 = add nsw i64 %664, %652
  br label %666
666:                                              ; preds = %663, %660
  %667 = phi i64 [ %662, %660 ], [ %665, %663 ]
  %668 = sub nsw i64 %667, %652
  %669 = load i64, ptr %645, align 8
  %670 = getelementptr inbounds i64, ptr %634, i64 %669
  store i64 %668, ptr %670, align 8
  %671 = getelementptr inbounds nuw i8, ptr %645, i64 48
  %672 = getelementptr inbounds nuw i8, ptr %645, i64 40
  %673 = load i64, ptr %672, align 8
  %674 = mul nsw i64 %673, 24
  %675 = getelementptr i8, ptr %645, i64 %674
  %676 = getelementptr i8, ptr %675, i64 48
  %677 = icmp sgt i64 %673, 0
  br i1 %677, label %683, label %678
678:                                              ; preds = %683, %666
  %679 = phi ptr [ %676, %666 ], [ %698, %683 ]
  %680 = add nuw nsw i64 %646, 1
  %681 = load i64, ptr %18, align 8
  %682 = icmp slt i64 %680, %681
  br i1 %682, label %643, label %700
683:                                              ; preds = %666, %683
  %684 = phi ptr [ %696, %683 ], [ %671, %666 ]
  %685 = getelementptr inbounds nuw i8, ptr %684, i64 8
  %686 = load i64, ptr %685, align 8
  %687 = mul nsw i64 %686, %652
  %688 = getelementptr inbounds nuw i8, ptr %684, i64 16
  %689 = load i64, ptr %688, align 8
  %690 = mul nsw i64 %689, %649
  %691 = add nsw i64 %690, %687
  %692 = load i64, ptr %684, align 8
  %693 = getelementptr inbounds i64, ptr %634, i64 %692
  %694 = load i64, ptr %693, align 8
  %695 = add nsw i64 %691, %694
  store i64 %695, ptr %693, align 8
  %696 = getelementptr inbounds nuw i8, ptr %684, i64 24
  %697 = load i64, ptr %672, align 8
  %698 = getelementptr inbounds %struct.move, ptr %671, i64 %697
  %699 = icmp ult ptr %696, %698
  br i1 %699, label %683, label %678
700:                                              ; preds = %678, %631
  %701 = phi i64 [ %638, %631 ], [ %681, %678 ]
  %702 = add nuw nsw i64 %632, 1
  %703 = icmp ne i64 %701, 0
  %704 = icmp slt i64 %702, %213
  %705 = select i1 %703, i1 %704, i1 false
  br i1 %705, label %631, label %218
706:                                              ; preds = %724, %267, %630
  %707 = phi i64 [ 0, %630 ], [ 0, %267 ], [ %716, %724 ]
  %708 = add nsw i64 %213, %211
  %709 = load i64, ptr %145, align 8
  %710 = icmp slt i64 %708, %709
  %711 = icmp eq i64 %707, 0
  %712 = and i1 %711, %710
  br i1 %712, label %209, label %202
713:                                              ; preds = %630, %724
  %714 = phi i64 [ %719, %724 ], [ 0, %630 ]
  %715 = getelementptr inbounds nuw i64, ptr %45, i64 %714
  %716 = load i64, ptr %715, align 8
  %717 = icmp ne i64 %716, 0
  %718 = and i1 %717, %201
  %719 = add nuw nsw i64 %714, 1
  br i1 %718, label %720, label %724
720:                                              ; preds = %713
  %721 = mul nsw i64 %719, %17
  %722 = getelementptr i64, ptr %200, i64 %721
  %723 = load i64, ptr %722, align 8
  store i64 %723, ptr %2, align 8
  br label %202
724:                                              ; preds = %713
  %725 = icmp eq i64 %716, 0
  %726 = icmp slt i64 %719, %213
  %727 = select i1 %725, i1 %726, i1 false
  br i1 %727, label %713, label %706
728:                                              ; preds = %205
  %729 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 304), align 8
  call void %729(ptr noundef nonnull %206) #12
  br label %730
730:                                              ; preds = %728, %205
  br i1 %148, label %733, label %731
731:                                              ; preds = %730
  %732 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 72), align 8
  call void %732(ptr noundef nonnull %44) #12
  br label %733
733:                                              ; preds = %731, %730
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %15)
  br label %734
734:                                              ; preds = %733, %159, %155, %35
  %735 = phi i64 [ -1, %35 ], [ %207, %733 ], [ %157, %159 ], [ 0, %155 ]
  call void @llvm.lifetime.end.p0(i64 8192, ptr nonnull %14) #13
  ret i64 %735
}
define internal ptr @call(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1, i64 noundef %2) #2 {
  %4 = alloca ptr, align 8
  %5 = alloca ptr, align 8
  %6 = alloca ptr, align 8
  %7 = alloca [3 x ptr], align 16
  %8 = alloca [1 x ptr], align 8
  %9 = alloca [1 x ptr], align 8
  %10 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %11 = getelementptr inbounds i8, ptr %0, i64 %10
  %12 = load ptr, ptr %11, align 8
  %13 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %14 = getelementptr inbounds i8, ptr %12, i64 %13
  %15 = load ptr, ptr %14, align 8
  %16 = load i64, ptr %15, align 8
  %17 = icmp eq i64 %2, %16
  br i1 %17, label %18, label %30
18:                                               ; preds = %3
  %19 = getelementptr inbounds nuw i8, ptr %15, i64 40
  %20 = load i64, ptr %19, align 8
  %21 = icmp eq i64 %20, 0
  br i1 %21, label %22, label %30
22:                                               ; preds = %18
  %23 = getelementptr inbounds nuw i8, ptr %15, i64 48
  %24 = load i64, ptr %23, align 8
  %25 = icmp eq i64 %24, 0
  br i1 %25, label %35, label %26
26:                                               ; preds = %22
  %27 = getelementptr inbounds nuw i8, ptr %15, i64 56
  %28 = load i64, ptr %27, align 8
  %29 = icmp eq i64 %28, 0
  br i1 %29, label %35, label %30
30:                                               ; preds = %26, %18, %3
  %31 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %32 = getelementptr inbounds nuw i8, ptr %15, i64 64
  %33 = load ptr, ptr %32, align 8
  tail call void %31(ptr noundef %33) #12
  %34 = load ptr, ptr %32, align 8
  br label %837
35:                                               ; preds = %26, %22
  %36 = getelementptr inbounds nuw i8, ptr %15, i64 8
  %37 = load i64, ptr %36, align 8
  %38 = tail call ptr @llvm.stacksave.p0()
  %39 = alloca %struct.value, i64 %37, align 16
  %40 = getelementptr inbounds nuw i8, ptr %15, i64 16
  %41 = load i64, ptr %40, align 8
  %42 = add nsw i64 %41, %2
  %43 = alloca i64, i64 %42, align 16
  %44 = mul nuw i64 %37, 24
  call void @llvm.memset.p0.i64(ptr nonnull align 16 %39, i8 0, i64 %44, i1 false)
  %45 = icmp sgt i64 %2, 0
  br i1 %45, label %46, label %192
46:                                               ; preds = %35
  %47 = getelementptr inbounds nuw i8, ptr %15, i64 112
  %48 = getelementptr inbounds nuw i8, ptr %15, i64 80
  br label %49
49:                                               ; preds = %46, %174
  %50 = phi i64 [ 0, %46 ], [ %179, %174 ]
  %51 = getelementptr inbounds nuw ptr, ptr %1, i64 %50
  %52 = load ptr, ptr %51, align 8
  %53 = getelementptr inbounds nuw %struct.input, ptr %47, i64 %50
  %54 = getelementptr inbounds nuw %struct.value, ptr %39, i64 %50
  %55 = load i64, ptr %40, align 8
  %56 = getelementptr inbounds i64, ptr %43, i64 %55
  %57 = getelementptr inbounds nuw i64, ptr %56, i64 %50
  %58 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %59 = getelementptr inbounds i8, ptr %52, i64 %58
  %60 = load ptr, ptr %59, align 8
  %61 = load ptr, ptr %53, align 8
  %62 = icmp ne ptr %60, %61
  %63 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 312), align 8
  %64 = icmp eq ptr %60, %63
  %65 = select i1 %62, i1 true, i1 %64
  %66 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 320), align 8
  %67 = icmp eq ptr %60, %66
  %68 = select i1 %65, i1 true, i1 %67
  br i1 %68, label %76, label %69
69:                                               ; preds = %49
  %70 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %71 = getelementptr inbounds i8, ptr %52, i64 %70
  %72 = load ptr, ptr %71, align 8
  %73 = load ptr, ptr %72, align 8
  %74 = getelementptr inbounds i8, ptr %73, i64 %58
  %75 = load ptr, ptr %74, align 8
  br label %76
76:                                               ; preds = %69, %49
  %77 = phi ptr [ %75, %69 ], [ %60, %49 ]
  %78 = phi ptr [ %73, %69 ], [ %52, %49 ]
  %79 = load ptr, ptr %48, align 8
  %80 = icmp eq ptr %77, %79
  br i1 %80, label %81, label %139
81:                                               ; preds = %76
  %82 = getelementptr inbounds nuw i8, ptr %53, i64 8
  %83 = load i64, ptr %82, align 8
  %84 = icmp sgt i64 %83, 0
  br i1 %84, label %85, label %162
85:                                               ; preds = %81
  %86 = getelementptr inbounds nuw i8, ptr %53, i64 16
  %87 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 408), align 8
  %88 = getelementptr inbounds i8, ptr %78, i64 %87
  %89 = load i64, ptr %88, align 8
  %90 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 376), align 8
  %91 = getelementptr inbounds i8, ptr %78, i64 %90
  %92 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 384), align 8
  %93 = getelementptr inbounds i8, ptr %78, i64 %92
  %94 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 392), align 8
  %95 = getelementptr inbounds i8, ptr %78, i64 %94
  br label %96
96:                                               ; preds = %132, %85
  %97 = phi i64 [ 0, %85 ], [ %133, %132 ]
  %98 = getelementptr inbounds nuw [16 x ptr], ptr %86, i64 0, i64 %97
  %99 = load ptr, ptr %98, align 8
  %100 = load ptr, ptr %99, align 8
  %101 = ptrtoint ptr %100 to i64
  %102 = icmp eq i64 %89, %101
  br i1 %102, label %103, label %132
103:                                              ; preds = %96
  %104 = load i32, ptr %91, align 4
  %105 = sext i32 %104 to i64
  %106 = getelementptr inbounds nuw i8, ptr %99, i64 16
  %107 = load i64, ptr %106, align 8
  %108 = icmp eq i64 %107, %105
  br i1 %108, label %109, label %132
109:                                              ; preds = %103
  %110 = load ptr, ptr %93, align 8
  %111 = load ptr, ptr %95, align 8
  %112 = icmp slt i32 %104, 1
  br i1 %112, label %135, label %113
113:                                              ; preds = %109
  %114 = getelementptr inbounds nuw i8, ptr %99, i64 48
  br label %118
115:                                              ; preds = %125
  %116 = add nuw nsw i64 %119, 1
  %117 = icmp eq i64 %116, %105
  br i1 %117, label %135, label %118
118:                                              ; preds = %115, %113
  %119 = phi i64 [ 0, %113 ], [ %116, %115 ]
  %120 = getelementptr inbounds nuw i64, ptr %110, i64 %119
  %121 = load i64, ptr %120, align 8
  %122 = getelementptr inbounds nuw [0 x i64], ptr %114, i64 0, i64 %119
  %123 = load i64, ptr %122, align 8
  %124 = icmp eq i64 %121, %123
  br i1 %124, label %125, label %132
125:                                              ; preds = %118
  %126 = getelementptr inbounds nuw i64, ptr %111, i64 %119
  %127 = load i64, ptr %126, align 8
  %128 = add nuw nsw i64 %119, %105
  %129 = getelementptr inbounds nuw [0 x i64], ptr %114, i64 0, i64 %128
  %130 = load i64, ptr %129, align 8
  %131 = icmp eq i64 %127, %130
  br i1 %131, label %115, label %132
132:                                              ; preds = %125, %118, %103, %96
  %133 = add nuw nsw i64 %97, 1
  %134 = icmp eq i64 %133, %83
  br i1 %134, label %162, label %96
135:                                              ; preds = %109, %115
  %136 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %137 = getelementptr inbounds i8, ptr %78, i64 %136
  %138 = load i64, ptr %137, align 8
  store i64 %138, ptr %54, align 8
  br label %174
139:                                              ; preds = %76
  %140 = icmp eq ptr %77, %61
  %141 = icmp ne ptr %77, null
  %142 = and i1 %140, %141
  br i1 %142, label %143, label %162
143:                                              ; preds = %139
  %144 = icmp eq ptr %61, %63
  br i1 %144, label %145, label %148
145:                                              ; preds = %143
  %146 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 176), align 8
  %147 = call double %146(ptr noundef nonnull %78) #12
  store double %147, ptr %57, align 8
  br label %158
148:                                              ; preds = %143
  %149 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 184), align 8
  %150 = call i64 %149(ptr noundef nonnull %78) #12
  store i64 %150, ptr %57, align 8
  %151 = icmp eq i64 %150, -1
  br i1 %151, label %152, label %158
152:                                              ; preds = %148
  %153 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 192), align 8
  %154 = call ptr %153() #12
  %155 = icmp eq ptr %154, null
  br i1 %155, label %158, label %156
156:                                              ; preds = %152
  %157 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 216), align 8
  call void %157() #12
  br label %162
158:                                              ; preds = %152, %148, %145
  %159 = ptrtoint ptr %57 to i64
  store i64 %159, ptr %54, align 8
  %160 = getelementptr inbounds nuw i8, ptr %53, i64 16
  %161 = load ptr, ptr %160, align 8
  br label %174
162:                                              ; preds = %81, %139, %132, %156
  %163 = icmp eq i64 %50, 0
  br i1 %163, label %181, label %164
164:                                              ; preds = %162, %172
  %165 = phi i64 [ %166, %172 ], [ %50, %162 ]
  %166 = add nsw i64 %165, -1
  %167 = getelementptr inbounds %struct.value, ptr %39, i64 %166, i32 2
  %168 = load ptr, ptr %167, align 8
  %169 = icmp eq ptr %168, null
  br i1 %169, label %172, label %170
170:                                              ; preds = %164
  %171 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %171(ptr noundef nonnull %168) #12
  br label %172
172:                                              ; preds = %164, %170
  store ptr null, ptr %167, align 8
  %173 = icmp eq i64 %166, 0
  br i1 %173, label %181, label %164
174:                                              ; preds = %135, %158
  %175 = phi ptr [ %99, %135 ], [ %161, %158 ]
  %176 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  call void %176(ptr noundef nonnull %78) #12
  %177 = getelementptr inbounds nuw i8, ptr %54, i64 8
  store ptr %175, ptr %177, align 8
  %178 = getelementptr inbounds nuw i8, ptr %54, i64 16
  store ptr %78, ptr %178, align 8
  %179 = add nuw nsw i64 %50, 1
  %180 = icmp eq i64 %179, %2
  br i1 %180, label %186, label %49
181:                                              ; preds = %172, %162
  %182 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %183 = getelementptr inbounds nuw i8, ptr %15, i64 64
  %184 = load ptr, ptr %183, align 8
  call void %182(ptr noundef %184) #12
  %185 = load ptr, ptr %183, align 8
  br label %835
186:                                              ; preds = %174
  %187 = getelementptr inbounds nuw i8, ptr %15, i64 112
  %188 = getelementptr inbounds nuw i8, ptr %15, i64 72
  %189 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %190 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 312), align 8
  %191 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 320), align 8
  br label %198
192:                                              ; preds = %226, %35
  %193 = getelementptr inbounds nuw i8, ptr %15, i64 24
  %194 = load i64, ptr %193, align 8
  %195 = getelementptr inbounds i64, ptr %15, i64 %194
  %196 = load i64, ptr %195, align 8
  %197 = icmp sgt i64 %196, -1
  br i1 %197, label %232, label %243
198:                                              ; preds = %186, %226
  %199 = phi ptr [ %191, %186 ], [ %227, %226 ]
  %200 = phi ptr [ %190, %186 ], [ %228, %226 ]
  %201 = phi i64 [ %189, %186 ], [ %229, %226 ]
  %202 = phi i64 [ 0, %186 ], [ %230, %226 ]
  %203 = getelementptr inbounds nuw ptr, ptr %1, i64 %202
  %204 = load ptr, ptr %203, align 8
  %205 = getelementptr inbounds nuw %struct.input, ptr %187, i64 %202
  %206 = getelementptr inbounds i8, ptr %204, i64 %201
  %207 = load ptr, ptr %206, align 8
  %208 = load ptr, ptr %205, align 8
  %209 = icmp ne ptr %207, %208
  %210 = icmp eq ptr %207, %200
  %211 = select i1 %209, i1 true, i1 %210
  %212 = icmp eq ptr %207, %199
  %213 = select i1 %211, i1 true, i1 %212
  br i1 %213, label %226, label %214
214:                                              ; preds = %198
  %215 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %216 = getelementptr inbounds i8, ptr %204, i64 %215
  %217 = load ptr, ptr %216, align 8
  %218 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %219 = load ptr, ptr %188, align 8
  call void %218(ptr noundef %219) #12
  %220 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  %221 = load ptr, ptr %217, align 8
  call void %220(ptr noundef %221) #12
  %222 = load ptr, ptr %188, align 8
  store ptr %222, ptr %217, align 8
  %223 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %224 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 312), align 8
  %225 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 320), align 8
  br label %226
226:                                              ; preds = %198, %214
  %227 = phi ptr [ %199, %198 ], [ %225, %214 ]
  %228 = phi ptr [ %200, %198 ], [ %224, %214 ]
  %229 = phi i64 [ %201, %198 ], [ %223, %214 ]
  %230 = add nuw nsw i64 %202, 1
  %231 = icmp eq i64 %230, %2
  br i1 %231, label %192, label %198
232:                                              ; preds = %192, %232
  %233 = phi i64 [ %241, %232 ], [ %196, %192 ]
  %234 = phi ptr [ %240, %232 ], [ %195, %192 ]
  %235 = getelementptr inbounds nuw %struct.value, ptr %39, i64 %233
  %236 = getelementptr inbounds nuw i8, ptr %234, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(24) %235, ptr noundef nonnull align 8 dereferenceable(24) %236, i64 24, i1 false)
  %237 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %238 = getelementptr inbounds nuw i8, ptr %234, i64 24
  %239 = load ptr, ptr %238, align 8
  call void %237(ptr noundef %239) #12
  %240 = getelementptr inbounds nuw i8, ptr %234, i64 32
  %241 = load i64, ptr %240, align 8
  %242 = icmp sgt i64 %241, -1
  br i1 %242, label %232, label %243
243:                                              ; preds = %232, %192
  %244 = getelementptr inbounds nuw i8, ptr %15, i64 56
  %245 = load i64, ptr %244, align 8
  %246 = add nsw i64 %245, 1
  store i64 %246, ptr %244, align 8
  %247 = getelementptr inbounds nuw i8, ptr %15, i64 32
  %248 = load i64, ptr %247, align 8
  %249 = getelementptr inbounds i64, ptr %15, i64 %248
  br label %250
250:                                              ; preds = %670, %243
  %251 = phi ptr [ %249, %243 ], [ %671, %670 ]
  %252 = phi i64 [ 0, %243 ], [ %672, %670 ]
  %253 = load i64, ptr %251, align 8
  %254 = trunc i64 %253 to i32
  switch i32 %254, label %670 [
    i32 0, label %255
    i32 1, label %424
    i32 2, label %434
    i32 3, label %455
    i32 4, label %475
    i32 5, label %554
    i32 6, label %585
    i32 7, label %592
    i32 8, label %601
    i32 9, label %625
    i32 10, label %637
    i32 11, label %649
    i32 12, label %653
    i32 13, label %673
  ]
255:                                              ; preds = %250
  %256 = getelementptr inbounds nuw i8, ptr %251, i64 80
  %257 = getelementptr inbounds nuw i8, ptr %251, i64 48
  %258 = load i64, ptr %257, align 8
  %259 = getelementptr inbounds i64, ptr %256, i64 %258
  %260 = getelementptr inbounds nuw i8, ptr %251, i64 56
  %261 = load i64, ptr %260, align 8
  %262 = getelementptr inbounds i64, ptr %259, i64 %261
  %263 = getelementptr inbounds nuw i8, ptr %251, i64 32
  %264 = load ptr, ptr %263, align 8
  %265 = icmp eq ptr %264, null
  br i1 %265, label %409, label %266
266:                                              ; preds = %255
  %267 = getelementptr inbounds nuw i8, ptr %251, i64 88
  %268 = getelementptr inbounds nuw i8, ptr %251, i64 64
  br label %269
269:                                              ; preds = %395, %266
  %270 = phi ptr [ %264, %266 ], [ %396, %395 ]
  %271 = getelementptr inbounds nuw i8, ptr %270, i64 48
  %272 = load ptr, ptr %271, align 8
  %273 = icmp eq ptr %272, null
  br i1 %273, label %342, label %274
274:                                              ; preds = %269
  %275 = load i64, ptr %262, align 8
  %276 = getelementptr inbounds i64, ptr %43, i64 %275
  %277 = load i64, ptr %276, align 8
  %278 = load i64, ptr %272, align 8
  %279 = icmp slt i64 %277, %278
  br i1 %279, label %395, label %280
280:                                              ; preds = %274
  %281 = getelementptr inbounds nuw i8, ptr %272, i64 8
  %282 = load i64, ptr %281, align 8
  %283 = icmp sgt i64 %277, %282
  br i1 %283, label %395, label %284
284:                                              ; preds = %280
  %285 = getelementptr inbounds nuw i8, ptr %272, i64 16
  %286 = load i64, ptr %285, align 8
  %287 = icmp eq i64 %277, %286
  br i1 %287, label %339, label %288
288:                                              ; preds = %284
  %289 = getelementptr inbounds nuw i8, ptr %272, i64 24
  %290 = getelementptr inbounds nuw i8, ptr %272, i64 32
  br label %291
291:                                              ; preds = %332, %288
  %292 = phi i64 [ 0, %288 ], [ %336, %332 ]
  %293 = load i64, ptr %289, align 8
  %294 = icmp slt i64 %292, %293
  br i1 %294, label %295, label %339
295:                                              ; preds = %291
  %296 = getelementptr inbounds nuw %struct.change, ptr %290, i64 %292
  %297 = getelementptr inbounds nuw i8, ptr %296, i64 16
  %298 = load i64, ptr %297, align 8
  %299 = getelementptr inbounds nuw i8, ptr %296, i64 24
  %300 = load i64, ptr %299, align 8
  %301 = mul nsw i64 %300, %277
  %302 = add nsw i64 %301, %298
  %303 = getelementptr inbounds nuw i8, ptr %296, i64 8
  %304 = load ptr, ptr %303, align 8
  %305 = icmp eq ptr %304, null
  br i1 %305, label %332, label %306
306:                                              ; preds = %295
  %307 = getelementptr inbounds nuw i8, ptr %304, i64 8
  %308 = getelementptr inbounds [0 x i64], ptr %307, i64 0, i64 %302
  %309 = load i64, ptr %308, align 8
  %310 = icmp eq i64 %309, 0
  br i1 %310, label %311, label %332
311:                                              ; preds = %306
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %9) #13
  %312 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 280), align 8
  %313 = call ptr %312(i64 noundef %302) #12
  store ptr %313, ptr %9, align 8
  %314 = icmp eq ptr %313, null
  br i1 %314, label %325, label %315
315:                                              ; preds = %311
  %316 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %317 = load ptr, ptr %304, align 8
  %318 = call ptr %316(ptr noundef %317, ptr noundef nonnull %9, i64 noundef 1, ptr noundef null) #12
  %319 = load ptr, ptr %9, align 8
  %320 = icmp eq ptr %319, null
  br i1 %320, label %323, label %321
321:                                              ; preds = %315
  %322 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %322(ptr noundef nonnull %319) #12
  br label %323
323:                                              ; preds = %321, %315
  %324 = icmp eq ptr %318, null
  br i1 %324, label %325, label %326
325:                                              ; preds = %323, %311
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #13
  br label %340
326:                                              ; preds = %323
  %327 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 184), align 8
  %328 = call i64 %327(ptr noundef nonnull %318) #12
  store i64 %328, ptr %308, align 8
  %329 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %329(ptr noundef nonnull %318) #12
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #13
  %330 = load i64, ptr %308, align 8
  %331 = icmp eq i64 %330, 0
  br i1 %331, label %340, label %332
332:                                              ; preds = %326, %306, %295
  %333 = phi i64 [ %330, %326 ], [ %302, %295 ], [ %309, %306 ]
  %334 = load i64, ptr %296, align 8
  %335 = getelementptr inbounds i64, ptr %270, i64 %334
  store i64 %333, ptr %335, align 8
  %336 = add nuw nsw i64 %292, 1
  %337 = load i64, ptr %285, align 8
  %338 = icmp eq i64 %277, %337
  br i1 %338, label %339, label %291
339:                                              ; preds = %332, %291, %284
  store i64 %277, ptr %285, align 8
  br label %342
340:                                              ; preds = %326, %325
  %341 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 216), align 8
  call void %341() #12
  store i64 -1, ptr %285, align 8
  br label %395
342:                                              ; preds = %339, %269
  %343 = load i64, ptr %257, align 8
  %344 = icmp sgt i64 %343, 0
  br i1 %344, label %345, label %360
345:                                              ; preds = %342
  %346 = getelementptr inbounds nuw i8, ptr %270, i64 88
  br label %347
347:                                              ; preds = %357, %345
  %348 = phi i64 [ 0, %345 ], [ %358, %357 ]
  %349 = getelementptr inbounds nuw [0 x i64], ptr %346, i64 0, i64 %348
  %350 = load i64, ptr %349, align 8
  %351 = getelementptr inbounds nuw i64, ptr %256, i64 %348
  %352 = load i64, ptr %351, align 8
  %353 = getelementptr inbounds %struct.value, ptr %39, i64 %352, i32 1
  %354 = load ptr, ptr %353, align 8
  %355 = ptrtoint ptr %354 to i64
  %356 = icmp eq i64 %350, %355
  br i1 %356, label %357, label %395
357:                                              ; preds = %347
  %358 = add nuw nsw i64 %348, 1
  %359 = icmp eq i64 %358, %343
  br i1 %359, label %360, label %347
360:                                              ; preds = %357, %342
  %361 = phi i64 [ 0, %342 ], [ %343, %357 ]
  %362 = getelementptr inbounds nuw i8, ptr %270, i64 32
  %363 = load i64, ptr %362, align 8
  %364 = icmp eq i64 %363, 0
  br i1 %364, label %375, label %365
365:                                              ; preds = %360
  %366 = icmp eq i64 %363, 2
  %367 = load i64, ptr %256, align 8
  %368 = getelementptr inbounds %struct.value, ptr %39, i64 %367
  %369 = load i64, ptr %368, align 8
  %370 = load i64, ptr %267, align 8
  %371 = getelementptr inbounds %struct.value, ptr %39, i64 %370
  %372 = load i64, ptr %371, align 8
  %373 = icmp ne i64 %369, %372
  %374 = xor i1 %366, %373
  br i1 %374, label %375, label %395
375:                                              ; preds = %365, %360
  %376 = getelementptr inbounds nuw i8, ptr %270, i64 88
  %377 = load i64, ptr %268, align 8
  %378 = icmp sgt i64 %377, 0
  br i1 %378, label %379, label %392
379:                                              ; preds = %375, %389
  %380 = phi i64 [ %390, %389 ], [ 0, %375 ]
  %381 = add nuw nsw i64 %380, %361
  %382 = getelementptr inbounds nuw [0 x i64], ptr %376, i64 0, i64 %381
  %383 = load i64, ptr %382, align 8
  %384 = getelementptr inbounds nuw i64, ptr %262, i64 %380
  %385 = load i64, ptr %384, align 8
  %386 = getelementptr inbounds i64, ptr %43, i64 %385
  %387 = load i64, ptr %386, align 8
  %388 = icmp eq i64 %383, %387
  br i1 %388, label %389, label %392
389:                                              ; preds = %379
  %390 = add nuw nsw i64 %380, 1
  %391 = icmp eq i64 %390, %377
  br i1 %391, label %398, label %379
392:                                              ; preds = %379, %375
  %393 = phi i64 [ 0, %375 ], [ %380, %379 ]
  %394 = icmp eq i64 %393, %377
  br i1 %394, label %398, label %395
395:                                              ; preds = %347, %392, %365, %340, %280, %274
  %396 = load ptr, ptr %270, align 8
  %397 = icmp eq ptr %396, null
  br i1 %397, label %409, label %269
398:                                              ; preds = %392, %389
  %399 = getelementptr inbounds nuw i8, ptr %270, i64 16
  %400 = load ptr, ptr %399, align 8
  %401 = icmp eq ptr %400, null
  br i1 %401, label %404, label %402
402:                                              ; preds = %398
  %403 = call fastcc i32 @call_routine(ptr noundef nonnull readonly %15, ptr noundef %251, ptr noundef %270, ptr noundef nonnull %39) #14
  br label %406
404:                                              ; preds = %398
  %405 = call fastcc i32 @follow(ptr noundef nonnull readonly %15, ptr noundef %251, ptr noundef %270, ptr noundef nonnull %39, ptr noundef nonnull %43) #14
  br label %406
406:                                              ; preds = %404, %402
  %407 = phi i32 [ %403, %402 ], [ %405, %404 ]
  %408 = icmp eq i32 %407, 0
  br i1 %408, label %409, label %411
409:                                              ; preds = %395, %406, %255
  %410 = call fastcc i32 @asked(ptr noundef nonnull readonly %15, ptr noundef %251, ptr noundef nonnull %39, ptr noundef nonnull %43) #14
  br label %411
411:                                              ; preds = %409, %406
  %412 = phi i32 [ %407, %406 ], [ %410, %409 ]
  %413 = icmp sgt i32 %412, -1
  br i1 %413, label %414, label %753
414:                                              ; preds = %411
  %415 = icmp eq i32 %412, 1
  br i1 %415, label %416, label %420
416:                                              ; preds = %414
  %417 = getelementptr inbounds nuw i8, ptr %251, i64 16
  %418 = load i64, ptr %417, align 8
  %419 = getelementptr inbounds i64, ptr %15, i64 %418
  br label %670
420:                                              ; preds = %414
  %421 = getelementptr inbounds nuw i8, ptr %251, i64 8
  %422 = load i64, ptr %421, align 8
  %423 = getelementptr inbounds i64, ptr %251, i64 %422
  br label %670
424:                                              ; preds = %250
  %425 = getelementptr inbounds nuw i8, ptr %251, i64 8
  %426 = load i64, ptr %425, align 8
  %427 = getelementptr inbounds %struct.value, ptr %39, i64 %426, i32 2
  %428 = load ptr, ptr %427, align 8
  %429 = icmp eq ptr %428, null
  br i1 %429, label %432, label %430
430:                                              ; preds = %424
  %431 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %431(ptr noundef nonnull %428) #12
  br label %432
432:                                              ; preds = %430, %424
  store ptr null, ptr %427, align 8
  %433 = getelementptr inbounds nuw i8, ptr %251, i64 16
  br label %670
434:                                              ; preds = %250
  %435 = getelementptr inbounds nuw i8, ptr %251, i64 16
  %436 = load i64, ptr %435, align 8
  %437 = getelementptr inbounds %struct.value, ptr %39, i64 %436
  %438 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %439 = getelementptr inbounds nuw i8, ptr %437, i64 16
  %440 = load ptr, ptr %439, align 8
  call void %438(ptr noundef %440) #12
  %441 = getelementptr inbounds nuw i8, ptr %251, i64 8
  %442 = load i64, ptr %441, align 8
  %443 = getelementptr inbounds %struct.value, ptr %39, i64 %442
  %444 = load i64, ptr %437, align 8
  %445 = getelementptr inbounds nuw i8, ptr %437, i64 8
  %446 = load ptr, ptr %445, align 8
  %447 = getelementptr inbounds nuw i8, ptr %443, i64 16
  %448 = load ptr, ptr %447, align 8
  %449 = icmp eq ptr %448, null
  br i1 %449, label %452, label %450
450:                                              ; preds = %434
  %451 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %451(ptr noundef nonnull %448) #12
  br label %452
452:                                              ; preds = %450, %434
  store i64 %444, ptr %443, align 8
  %453 = getelementptr inbounds nuw i8, ptr %443, i64 8
  store ptr %446, ptr %453, align 8
  store ptr %440, ptr %447, align 8
  %454 = getelementptr inbounds nuw i8, ptr %251, i64 24
  br label %670
455:                                              ; preds = %250
  %456 = getelementptr inbounds nuw i8, ptr %251, i64 16
  %457 = load i64, ptr %456, align 8
  %458 = getelementptr inbounds %struct.value, ptr %39, i64 %457
  %459 = getelementptr inbounds nuw i8, ptr %251, i64 8
  %460 = load i64, ptr %459, align 8
  %461 = getelementptr inbounds %struct.value, ptr %39, i64 %460
  %462 = load i64, ptr %458, align 8
  %463 = getelementptr inbounds nuw i8, ptr %458, i64 8
  %464 = load ptr, ptr %463, align 8
  %465 = getelementptr inbounds nuw i8, ptr %458, i64 16
  %466 = load ptr, ptr %465, align 8
  %467 = getelementptr inbounds nuw i8, ptr %461, i64 16
  %468 = load ptr, ptr %467, align 8
  %469 = icmp eq ptr %468, null
  br i1 %469, label %472, label %470
470:                                              ; preds = %455
  %471 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %471(ptr noundef nonnull %468) #12
  br label %472
472:                                              ; preds = %470, %455
  store i64 %462, ptr %461, align 8
  %473 = getelementptr inbounds nuw i8, ptr %461, i64 8
  store ptr %464, ptr %473, align 8
  store ptr %466, ptr %467, align 8
  store ptr null, ptr %465, align 8
  %474 = getelementptr inbounds nuw i8, ptr %251, i64 24
  br label %670
475:                                              ; preds = %250
  %476 = getelementptr inbounds nuw i8, ptr %251, i64 16
  %477 = load i64, ptr %476, align 8
  %478 = getelementptr inbounds %struct.value, ptr %39, i64 %477
  %479 = getelementptr inbounds nuw i8, ptr %478, i64 8
  %480 = load ptr, ptr %479, align 8
  %481 = load i64, ptr %478, align 8
  %482 = getelementptr inbounds nuw i8, ptr %251, i64 24
  %483 = load i64, ptr %482, align 8
  %484 = getelementptr inbounds i64, ptr %43, i64 %483
  %485 = load i64, ptr %484, align 8
  %486 = getelementptr inbounds nuw i8, ptr %251, i64 40
  %487 = load i64, ptr %486, align 8
  %488 = ptrtoint ptr %480 to i64
  %489 = icmp eq i64 %487, %488
  br i1 %489, label %511, label %490
490:                                              ; preds = %475
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %8) #13
  %491 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 280), align 8
  %492 = call ptr %491(i64 noundef %488) #12
  store ptr %492, ptr %8, align 8
  %493 = icmp eq ptr %492, null
  br i1 %493, label %550, label %494
494:                                              ; preds = %490
  %495 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %496 = getelementptr inbounds nuw i8, ptr %251, i64 56
  %497 = load i64, ptr %496, align 8
  %498 = inttoptr i64 %497 to ptr
  %499 = call ptr %495(ptr noundef %498, ptr noundef nonnull %8, i64 noundef 1, ptr noundef null) #12
  %500 = load ptr, ptr %8, align 8
  %501 = icmp eq ptr %500, null
  br i1 %501, label %504, label %502
502:                                              ; preds = %494
  %503 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %503(ptr noundef nonnull %500) #12
  br label %504
504:                                              ; preds = %502, %494
  %505 = icmp eq ptr %499, null
  br i1 %505, label %550, label %506
506:                                              ; preds = %504
  store i64 %488, ptr %486, align 8
  %507 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 184), align 8
  %508 = call i64 %507(ptr noundef nonnull %499) #12
  %509 = getelementptr inbounds nuw i8, ptr %251, i64 48
  store i64 %508, ptr %509, align 8
  %510 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %510(ptr noundef nonnull %499) #12
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #13
  br label %511
511:                                              ; preds = %506, %475
  %512 = getelementptr inbounds nuw i8, ptr %251, i64 32
  %513 = load i64, ptr %512, align 8
  %514 = icmp sgt i64 %513, 0
  br i1 %514, label %515, label %519
515:                                              ; preds = %511
  %516 = getelementptr inbounds nuw i8, ptr %480, i64 48
  %517 = getelementptr inbounds nuw i8, ptr %480, i64 16
  %518 = load i64, ptr %517, align 8
  br label %535
519:                                              ; preds = %535, %511
  %520 = phi i64 [ %481, %511 ], [ %547, %535 ]
  %521 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %522 = getelementptr inbounds nuw i8, ptr %478, i64 16
  %523 = load ptr, ptr %522, align 8
  call void %521(ptr noundef %523) #12
  %524 = getelementptr inbounds nuw i8, ptr %251, i64 8
  %525 = load i64, ptr %524, align 8
  %526 = getelementptr inbounds %struct.value, ptr %39, i64 %525
  %527 = getelementptr inbounds nuw i8, ptr %251, i64 48
  %528 = load i64, ptr %527, align 8
  %529 = inttoptr i64 %528 to ptr
  %530 = getelementptr inbounds nuw i8, ptr %526, i64 16
  %531 = load ptr, ptr %530, align 8
  %532 = icmp eq ptr %531, null
  br i1 %532, label %551, label %533
533:                                              ; preds = %519
  %534 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %534(ptr noundef nonnull %531) #12
  br label %551
535:                                              ; preds = %535, %515
  %536 = phi i64 [ %513, %515 ], [ %539, %535 ]
  %537 = phi i64 [ %485, %515 ], [ %548, %535 ]
  %538 = phi i64 [ %481, %515 ], [ %547, %535 ]
  %539 = add nsw i64 %536, -1
  %540 = getelementptr inbounds nuw [0 x i64], ptr %516, i64 0, i64 %539
  %541 = load i64, ptr %540, align 8
  %542 = srem i64 %537, %541
  %543 = add nsw i64 %539, %518
  %544 = getelementptr inbounds [0 x i64], ptr %516, i64 0, i64 %543
  %545 = load i64, ptr %544, align 8
  %546 = mul nsw i64 %545, %542
  %547 = add nsw i64 %546, %538
  %548 = sdiv i64 %537, %541
  %549 = icmp samesign ugt i64 %536, 1
  br i1 %549, label %535, label %519
550:                                              ; preds = %504, %490
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #13
  br label %753
551:                                              ; preds = %533, %519
  store i64 %520, ptr %526, align 8
  %552 = getelementptr inbounds nuw i8, ptr %526, i64 8
  store ptr %529, ptr %552, align 8
  store ptr %523, ptr %530, align 8
  %553 = getelementptr inbounds nuw i8, ptr %251, i64 64
  br label %670
554:                                              ; preds = %250
  %555 = getelementptr inbounds nuw i8, ptr %251, i64 16
  %556 = load i64, ptr %555, align 8
  %557 = getelementptr inbounds %struct.value, ptr %39, i64 %556
  %558 = getelementptr inbounds nuw i8, ptr %557, i64 8
  %559 = load ptr, ptr %558, align 8
  %560 = getelementptr inbounds nuw i8, ptr %559, i64 32
  %561 = load i64, ptr %560, align 8
  %562 = getelementptr inbounds nuw i8, ptr %559, i64 24
  %563 = load i64, ptr %562, align 8
  %564 = mul nsw i64 %563, %561
  %565 = icmp eq i64 %564, 0
  br i1 %565, label %583, label %566
566:                                              ; preds = %554
  %567 = getelementptr inbounds nuw i8, ptr %251, i64 8
  %568 = load i64, ptr %567, align 8
  %569 = getelementptr inbounds %struct.value, ptr %39, i64 %568
  %570 = load i64, ptr %569, align 8
  %571 = inttoptr i64 %570 to ptr
  %572 = getelementptr inbounds nuw i8, ptr %251, i64 24
  %573 = load i64, ptr %572, align 8
  %574 = getelementptr inbounds i64, ptr %43, i64 %573
  %575 = load i64, ptr %574, align 8
  %576 = getelementptr inbounds nuw i8, ptr %251, i64 32
  %577 = load i64, ptr %576, align 8
  %578 = add nsw i64 %577, %575
  %579 = mul nsw i64 %578, %564
  %580 = getelementptr inbounds i8, ptr %571, i64 %579
  %581 = load i64, ptr %557, align 8
  %582 = inttoptr i64 %581 to ptr
  call fastcc void @copy_items(ptr noundef %580, ptr noundef %582, ptr noundef nonnull %559, i64 noundef 0) #14
  br label %583
583:                                              ; preds = %566, %554
  %584 = getelementptr inbounds nuw i8, ptr %251, i64 40
  br label %670
585:                                              ; preds = %250
  %586 = getelementptr inbounds nuw i8, ptr %251, i64 16
  %587 = load i64, ptr %586, align 8
  %588 = getelementptr inbounds nuw i8, ptr %251, i64 8
  %589 = load i64, ptr %588, align 8
  %590 = getelementptr inbounds i64, ptr %43, i64 %589
  store i64 %587, ptr %590, align 8
  %591 = getelementptr inbounds nuw i8, ptr %251, i64 24
  br label %670
592:                                              ; preds = %250
  %593 = getelementptr inbounds nuw i8, ptr %251, i64 16
  %594 = load i64, ptr %593, align 8
  %595 = getelementptr inbounds nuw i8, ptr %251, i64 8
  %596 = load i64, ptr %595, align 8
  %597 = getelementptr inbounds i64, ptr %43, i64 %596
  %598 = load i64, ptr %597, align 8
  %599 = add nsw i64 %598, %594
  store i64 %599, ptr %597, align 8
  %600 = getelementptr inbounds nuw i8, ptr %251, i64 24
  br label %670
601:                                              ; preds = %250
  %602 = getelementptr inbounds nuw i8, ptr %251, i64 16
  %603 = load i64, ptr %602, align 8
  %604 = getelementptr inbounds %struct.value, ptr %39, i64 %603
  %605 = getelementptr inbounds nuw i8, ptr %604, i64 8
  %606 = load ptr, ptr %605, align 8
  %607 = getelementptr inbounds nuw i8, ptr %606, i64 24
  %608 = load i64, ptr %607, align 8
  %609 = load i64, ptr %604, align 8
  %610 = inttoptr i64 %609 to ptr
  switch i64 %608, label %617 [
    i64 1, label %611
    i64 4, label %614
  ]
611:                                              ; preds = %601
  %612 = load i8, ptr %610, align 1
  %613 = zext i8 %612 to i64
  br label %619
614:                                              ; preds = %601
  %615 = load i32, ptr %610, align 1
  %616 = sext i32 %615 to i64
  br label %619
617:                                              ; preds = %601
  %618 = load i64, ptr %610, align 1
  br label %619
619:                                              ; preds = %617, %614, %611
  %620 = phi i64 [ %613, %611 ], [ %616, %614 ], [ %618, %617 ]
  %621 = getelementptr inbounds nuw i8, ptr %251, i64 8
  %622 = load i64, ptr %621, align 8
  %623 = getelementptr inbounds i64, ptr %43, i64 %622
  store i64 %620, ptr %623, align 8
  %624 = getelementptr inbounds nuw i8, ptr %251, i64 24
  br label %670
625:                                              ; preds = %250
  %626 = getelementptr inbounds nuw i8, ptr %251, i64 16
  %627 = load i64, ptr %626, align 8
  %628 = icmp eq i64 %627, 0
  br i1 %628, label %632, label %629
629:                                              ; preds = %625
  %630 = call fastcc i32 @evaluated(ptr noundef nonnull %251, ptr noundef nonnull %43) #14
  %631 = icmp eq i32 %630, 0
  br i1 %631, label %753, label %632
632:                                              ; preds = %629, %625
  %633 = getelementptr inbounds nuw i8, ptr %251, i64 24
  %634 = load i64, ptr %633, align 8
  %635 = getelementptr i64, ptr %251, i64 %634
  %636 = getelementptr i8, ptr %635, i64 32
  br label %670
637:                                              ; preds = %250
  %638 = getelementptr inbounds nuw i8, ptr %251, i64 8
  %639 = load i64, ptr %638, align 8
  %640 = getelementptr inbounds i64, ptr %43, i64 %639
  %641 = load i64, ptr %640, align 8
  %642 = icmp eq i64 %641, 0
  br i1 %642, label %645, label %643
643:                                              ; preds = %637
  %644 = getelementptr inbounds nuw i8, ptr %251, i64 24
  br label %670
645:                                              ; preds = %637
  %646 = getelementptr inbounds nuw i8, ptr %251, i64 16
  %647 = load i64, ptr %646, align 8
  %648 = getelementptr inbounds i64, ptr %15, i64 %647
  br label %670
649:                                              ; preds = %250
  %650 = getelementptr inbounds nuw i8, ptr %251, i64 8
  %651 = load i64, ptr %650, align 8
  %652 = getelementptr inbounds i64, ptr %15, i64 %651
  br label %670
653:                                              ; preds = %250
  %654 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 232), align 8
  %655 = call i32 %654() #12
  %656 = icmp eq i32 %655, 0
  br i1 %656, label %657, label %753
657:                                              ; preds = %653
  %658 = add nsw i64 %252, 1
  %659 = and i64 %658, 15
  %660 = icmp eq i64 %659, 0
  br i1 %660, label %661, label %668
661:                                              ; preds = %657
  %662 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %663 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 440), align 8
  %664 = call ptr %662(ptr noundef %663, ptr noundef null, i64 noundef 0, ptr noundef null) #12
  %665 = icmp eq ptr %664, null
  br i1 %665, label %753, label %666
666:                                              ; preds = %661
  %667 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %667(ptr noundef nonnull %664) #12
  br label %668
668:                                              ; preds = %666, %657
  %669 = getelementptr inbounds nuw i8, ptr %251, i64 8
  br label %670
670:                                              ; preds = %668, %649, %645, %643, %632, %619, %592, %585, %583, %551, %472, %452, %432, %420, %416, %250
  %671 = phi ptr [ %251, %250 ], [ %669, %668 ], [ %652, %649 ], [ %636, %632 ], [ %624, %619 ], [ %600, %592 ], [ %591, %585 ], [ %584, %583 ], [ %553, %551 ], [ %474, %472 ], [ %454, %452 ], [ %433, %432 ], [ %419, %416 ], [ %423, %420 ], [ %644, %643 ], [ %648, %645 ]
  %672 = phi i64 [ %252, %250 ], [ %658, %668 ], [ %252, %649 ], [ %252, %632 ], [ %252, %619 ], [ %252, %592 ], [ %252, %585 ], [ %252, %583 ], [ %252, %551 ], [ %252, %472 ], [ %252, %452 ], [ %252, %432 ], [ %252, %416 ], [ %252, %420 ], [ %252, %643 ], [ %252, %645 ]
  br label %250
673:                                              ; preds = %250
  %674 = getelementptr inbounds nuw i8, ptr %251, i64 8
  %675 = load i64, ptr %674, align 8
  %676 = load i64, ptr %36, align 8
  %677 = icmp sgt i64 %676, 0
  br i1 %677, label %678, label %685
678:                                              ; preds = %673
  %679 = getelementptr inbounds nuw i8, ptr %251, i64 16
  %680 = icmp sgt i64 %675, 0
  br label %681
681:                                              ; preds = %707, %678
  %682 = phi i64 [ %676, %678 ], [ %708, %707 ]
  %683 = phi i64 [ %676, %678 ], [ %709, %707 ]
  %684 = phi i64 [ 0, %678 ], [ %710, %707 ]
  br i1 %680, label %687, label %695
685:                                              ; preds = %707, %673
  %686 = icmp eq i64 %675, 1
  br i1 %686, label %712, label %717
687:                                              ; preds = %681, %692
  %688 = phi i64 [ %693, %692 ], [ 0, %681 ]
  %689 = getelementptr inbounds nuw i64, ptr %679, i64 %688
  %690 = load i64, ptr %689, align 8
  %691 = icmp eq i64 %690, %684
  br i1 %691, label %695, label %692
692:                                              ; preds = %687
  %693 = add nuw nsw i64 %688, 1
  %694 = icmp eq i64 %693, %675
  br i1 %694, label %698, label %687
695:                                              ; preds = %687, %681
  %696 = phi i64 [ 0, %681 ], [ %688, %687 ]
  %697 = icmp eq i64 %696, %675
  br i1 %697, label %698, label %707
698:                                              ; preds = %692, %695
  %699 = getelementptr inbounds nuw %struct.value, ptr %39, i64 %684, i32 2
  %700 = load ptr, ptr %699, align 8
  %701 = icmp eq ptr %700, null
  br i1 %701, label %705, label %702
702:                                              ; preds = %698
  %703 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %703(ptr noundef nonnull %700) #12
  %704 = load i64, ptr %36, align 8
  br label %705
705:                                              ; preds = %702, %698
  %706 = phi i64 [ %704, %702 ], [ %682, %698 ]
  store ptr null, ptr %699, align 8
  br label %707
707:                                              ; preds = %705, %695
  %708 = phi i64 [ %682, %695 ], [ %706, %705 ]
  %709 = phi i64 [ %683, %695 ], [ %706, %705 ]
  %710 = add nuw nsw i64 %684, 1
  %711 = icmp slt i64 %710, %709
  br i1 %711, label %681, label %685
712:                                              ; preds = %685
  %713 = getelementptr inbounds nuw i8, ptr %251, i64 16
  %714 = load i64, ptr %713, align 8
  %715 = getelementptr inbounds %struct.value, ptr %39, i64 %714
  %716 = call fastcc ptr @given_away(ptr noundef nonnull readonly %15, ptr noundef %715) #14
  br label %753
717:                                              ; preds = %685
  %718 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 256), align 8
  %719 = call ptr %718(i64 noundef %675) #12
  %720 = icmp eq ptr %719, null
  %721 = getelementptr inbounds nuw i8, ptr %251, i64 16
  %722 = icmp slt i64 %675, 1
  %723 = select i1 %720, i1 true, i1 %722
  br i1 %723, label %753, label %724
724:                                              ; preds = %717, %749
  %725 = phi i64 [ %726, %749 ], [ 0, %717 ]
  %726 = add nuw nsw i64 %725, 1
  %727 = icmp slt i64 %726, %675
  %728 = getelementptr inbounds nuw i64, ptr %721, i64 %725
  %729 = load i64, ptr %728, align 8
  br i1 %727, label %733, label %741
730:                                              ; preds = %733
  %731 = add nuw i64 %734, 1
  %732 = icmp eq i64 %731, %675
  br i1 %732, label %741, label %733
733:                                              ; preds = %724, %730
  %734 = phi i64 [ %731, %730 ], [ %726, %724 ]
  %735 = getelementptr inbounds nuw i64, ptr %721, i64 %734
  %736 = load i64, ptr %735, align 8
  %737 = icmp eq i64 %736, %729
  br i1 %737, label %738, label %730
738:                                              ; preds = %733
  %739 = getelementptr inbounds %struct.value, ptr %39, i64 %729
  %740 = call fastcc ptr @copied(ptr noundef nonnull readonly %15, ptr noundef %739) #14
  br label %744
741:                                              ; preds = %730, %724
  %742 = getelementptr inbounds %struct.value, ptr %39, i64 %729
  %743 = call fastcc ptr @given_away(ptr noundef nonnull readonly %15, ptr noundef %742) #14
  br label %744
744:                                              ; preds = %741, %738
  %745 = phi ptr [ %740, %738 ], [ %743, %741 ]
  %746 = icmp eq ptr %745, null
  br i1 %746, label %747, label %749
747:                                              ; preds = %744
  %748 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %748(ptr noundef nonnull %719) #12
  br label %753
749:                                              ; preds = %744
  %750 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 264), align 8
  %751 = call i32 %750(ptr noundef %719, i64 noundef %725, ptr noundef nonnull %745) #12
  %752 = icmp eq i64 %726, %675
  br i1 %752, label %753, label %724
753:                                              ; preds = %411, %629, %653, %661, %749, %550, %712, %717, %747
  %754 = phi ptr [ null, %550 ], [ %716, %712 ], [ null, %747 ], [ %719, %717 ], [ %719, %749 ], [ null, %661 ], [ null, %653 ], [ null, %629 ], [ null, %411 ]
  %755 = load i64, ptr %244, align 8
  %756 = add nsw i64 %755, -1
  store i64 %756, ptr %244, align 8
  %757 = load i64, ptr %36, align 8
  %758 = icmp sgt i64 %757, 0
  br i1 %758, label %761, label %759
759:                                              ; preds = %770, %753
  %760 = icmp eq ptr %754, null
  br i1 %760, label %774, label %835
761:                                              ; preds = %753, %770
  %762 = phi i64 [ %771, %770 ], [ %757, %753 ]
  %763 = phi i64 [ %772, %770 ], [ 0, %753 ]
  %764 = getelementptr inbounds nuw %struct.value, ptr %39, i64 %763, i32 2
  %765 = load ptr, ptr %764, align 8
  %766 = icmp eq ptr %765, null
  br i1 %766, label %770, label %767
767:                                              ; preds = %761
  %768 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %768(ptr noundef nonnull %765) #12
  %769 = load i64, ptr %36, align 8
  br label %770
770:                                              ; preds = %761, %767
  %771 = phi i64 [ %762, %761 ], [ %769, %767 ]
  store ptr null, ptr %764, align 8
  %772 = add nuw nsw i64 %763, 1
  %773 = icmp slt i64 %772, %771
  br i1 %773, label %761, label %759
774:                                              ; preds = %759
  %775 = ptrtoint ptr %251 to i64
  %776 = ptrtoint ptr %15 to i64
  %777 = sub i64 %775, %776
  %778 = ashr exact i64 %777, 3
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %4) #13
  store ptr null, ptr %4, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %5) #13
  store ptr null, ptr %5, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #13
  store ptr null, ptr %6, align 8
  %779 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 200), align 8
  call void %779(ptr noundef nonnull %4, ptr noundef nonnull %5, ptr noundef nonnull %6) #12
  call void @llvm.lifetime.start.p0(i64 24, ptr nonnull %7) #13
  %780 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 280), align 8
  %781 = call ptr %780(i64 noundef range(i64 -1152921504606846976, 1152921504606846976) %778) #12
  store ptr %781, ptr %7, align 16
  %782 = getelementptr inbounds nuw i8, ptr %7, i64 8
  %783 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 280), align 8
  %784 = ptrtoint ptr %43 to i64
  %785 = call ptr %783(i64 noundef %784) #12
  store ptr %785, ptr %782, align 8
  %786 = getelementptr inbounds nuw i8, ptr %7, i64 16
  %787 = load ptr, ptr %5, align 8
  %788 = icmp eq ptr %787, null
  %789 = load ptr, ptr %4, align 8
  %790 = select i1 %788, ptr %789, ptr %787
  store ptr %790, ptr %786, align 16
  %791 = icmp ne ptr %781, null
  %792 = icmp ne ptr %785, null
  %793 = select i1 %791, i1 %792, i1 false
  br i1 %793, label %794, label %800
794:                                              ; preds = %774
  %795 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %796 = getelementptr inbounds nuw i8, ptr %15, i64 104
  %797 = load ptr, ptr %796, align 8
  %798 = call ptr %795(ptr noundef %797, ptr noundef nonnull %7, i64 noundef 3, ptr noundef null) #12
  %799 = load ptr, ptr %7, align 16
  br label %800
800:                                              ; preds = %794, %774
  %801 = phi ptr [ %799, %794 ], [ %781, %774 ]
  %802 = phi ptr [ %798, %794 ], [ null, %774 ]
  %803 = icmp eq ptr %801, null
  br i1 %803, label %806, label %804
804:                                              ; preds = %800
  %805 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %805(ptr noundef nonnull %801) #12
  br label %806
806:                                              ; preds = %804, %800
  %807 = load ptr, ptr %782, align 8
  %808 = icmp eq ptr %807, null
  br i1 %808, label %811, label %809
809:                                              ; preds = %806
  %810 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %810(ptr noundef nonnull %807) #12
  br label %811
811:                                              ; preds = %809, %806
  %812 = icmp eq ptr %802, null
  br i1 %812, label %819, label %813
813:                                              ; preds = %811
  %814 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %814(ptr noundef nonnull %802) #12
  %815 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 208), align 8
  %816 = load ptr, ptr %4, align 8
  %817 = load ptr, ptr %5, align 8
  %818 = load ptr, ptr %6, align 8
  call void %815(ptr noundef %816, ptr noundef %817, ptr noundef %818) #12
  br label %834
819:                                              ; preds = %811
  %820 = load ptr, ptr %4, align 8
  %821 = load ptr, ptr %5, align 8
  %822 = load ptr, ptr %6, align 8
  %823 = icmp eq ptr %820, null
  br i1 %823, label %826, label %824
824:                                              ; preds = %819
  %825 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %825(ptr noundef nonnull %820) #12
  br label %826
826:                                              ; preds = %824, %819
  %827 = icmp eq ptr %821, null
  br i1 %827, label %830, label %828
828:                                              ; preds = %826
  %829 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %829(ptr noundef nonnull %821) #12
  br label %830
830:                                              ; preds = %828, %826
  %831 = icmp eq ptr %822, null
  br i1 %831, label %834, label %832
832:                                              ; preds = %830
  %833 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %833(ptr noundef nonnull %822) #12
  br label %834
834:                                              ; preds = %813, %830, %832
  call void @llvm.lifetime.end.p0(i64 24, ptr nonnull %7) #13
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #13
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %5) #13
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %4) #13
  br label %835
835:                                              ; preds = %181, %834, %759
  %836 = phi ptr [ %185, %181 ], [ null, %834 ], [ %754, %759 ]
  call void @llvm.stackrestore.p0(ptr %38)
  br label %837
837:                                              ; preds = %835, %30
  %838 = phi ptr [ %34, %30 ], [ %836, %835 ]
  ret ptr %838
}
define internal noundef ptr @renew() #2 {
  %1 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 64), align 8
  %2 = tail call ptr %1(i64 noundef 896) #12
  %3 = icmp eq ptr %2, null
  br i1 %3, label %15, label %4
4:                                                ; preds = %0
  %5 = ptrtoint ptr %2 to i64
  %6 = add nsw i64 %5, 127
  %7 = and i64 %6, -128
  %8 = inttoptr i64 %7 to ptr
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 128 dereferenceable(768) %8, i8 0, i64 768, i1 false)
  %9 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 96), align 8
  %10 = getelementptr inbounds nuw i8, ptr %8, i64 320
  %11 = tail call i32 %9(ptr noundef nonnull %10, ptr noundef null) #12
  %12 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 104), align 8
  %13 = getelementptr inbounds nuw i8, ptr %8, i64 448
  %14 = tail call i32 %12(ptr noundef nonnull %13, ptr noundef null) #12
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
define internal noundef i64 @product(ptr nocapture noundef readonly %0) #2 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %3 = load i64, ptr %2, align 8
  %4 = icmp sgt i64 %3, 0
  br i1 %4, label %5, label %30
5:                                                ; preds = %1
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %7 = load i64, ptr %6, align 8
  %8 = inttoptr i64 %7 to ptr
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %10 = load i64, ptr %9, align 8
  %11 = inttoptr i64 %10 to ptr
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %13 = load i64, ptr %12, align 8
  %14 = inttoptr i64 %13 to ptr
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 112
  %16 = load i64, ptr %15, align 8
  %17 = inttoptr i64 %16 to ptr
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 80
  br label %31
30:                                               ; preds = %224, %1
  ret i64 0
31:                                               ; preds = %5, %224
  %32 = phi i64 [ %3, %5 ], [ %232, %224 ]
  %33 = phi ptr [ %8, %5 ], [ %226, %224 ]
  %34 = phi ptr [ %11, %5 ], [ %231, %224 ]
  %35 = phi ptr [ %14, %5 ], [ %230, %224 ]
  %36 = phi ptr [ %17, %5 ], [ %228, %224 ]
  %37 = load i64, ptr %18, align 8
  switch i64 %37, label %118 [
    i64 0, label %38
    i64 1, label %58
    i64 2, label %78
    i64 3, label %98
  ]
38:                                               ; preds = %31
  %39 = icmp eq ptr %33, %34
  %40 = load i64, ptr %19, align 8
  %41 = inttoptr i64 %40 to ptr
  %42 = load i64, ptr %0, align 8
  %43 = trunc i64 %42 to i32
  br i1 %39, label %44, label %49
44:                                               ; preds = %38
  %45 = load i64, ptr %21, align 8
  %46 = load i64, ptr %23, align 8
  %47 = load i64, ptr %24, align 8
  %48 = load i64, ptr %26, align 8
  tail call void %41(i32 noundef 101, i32 noundef 121, i32 noundef %43, i64 noundef %45, i64 noundef %46, float noundef 1.000000e+00, ptr noundef %36, i64 noundef %47, float noundef 0.000000e+00, ptr noundef %34, i64 noundef %48) #12
  br label %118
49:                                               ; preds = %38
  %50 = load i64, ptr %20, align 8
  %51 = trunc i64 %50 to i32
  %52 = load i64, ptr %21, align 8
  %53 = load i64, ptr %22, align 8
  %54 = load i64, ptr %23, align 8
  %55 = load i64, ptr %24, align 8
  %56 = load i64, ptr %25, align 8
  %57 = load i64, ptr %26, align 8
  tail call void %41(i32 noundef 101, i32 noundef %43, i32 noundef %51, i64 noundef %52, i64 noundef %53, i64 noundef %54, float noundef 1.000000e+00, ptr noundef %36, i64 noundef %55, ptr noundef %35, i64 noundef %56, float noundef 0.000000e+00, ptr noundef %34, i64 noundef %57) #12
  br label %118
58:                                               ; preds = %31
  %59 = icmp eq ptr %33, %34
  %60 = load i64, ptr %19, align 8
  %61 = inttoptr i64 %60 to ptr
  %62 = load i64, ptr %0, align 8
  %63 = trunc i64 %62 to i32
  br i1 %59, label %64, label %69
64:                                               ; preds = %58
  %65 = load i64, ptr %21, align 8
  %66 = load i64, ptr %23, align 8
  %67 = load i64, ptr %24, align 8
  %68 = load i64, ptr %26, align 8
  tail call void %61(i32 noundef 101, i32 noundef 121, i32 noundef %63, i64 noundef %65, i64 noundef %66, double noundef 1.000000e+00, ptr noundef %36, i64 noundef %67, double noundef 0.000000e+00, ptr noundef %34, i64 noundef %68) #12
  br label %118
69:                                               ; preds = %58
  %70 = load i64, ptr %20, align 8
  %71 = trunc i64 %70 to i32
  %72 = load i64, ptr %21, align 8
  %73 = load i64, ptr %22, align 8
  %74 = load i64, ptr %23, align 8
  %75 = load i64, ptr %24, align 8
  %76 = load i64, ptr %25, align 8
  %77 = load i64, ptr %26, align 8
  tail call void %61(i32 noundef 101, i32 noundef %63, i32 noundef %71, i64 noundef %72, i64 noundef %73, i64 noundef %74, double noundef 1.000000e+00, ptr noundef %36, i64 noundef %75, ptr noundef %35, i64 noundef %76, double noundef 0.000000e+00, ptr noundef %34, i64 noundef %77) #12
  br label %118
78:                                               ; preds = %31
  %79 = icmp eq ptr %33, %34
  %80 = load i64, ptr %19, align 8
  %81 = inttoptr i64 %80 to ptr
  %82 = load i64, ptr %0, align 8
  %83 = trunc i64 %82 to i32
  br i1 %79, label %84, label %89
84:                                               ; preds = %78
  %85 = load i64, ptr %21, align 8
  %86 = load i64, ptr %23, align 8
  %87 = load i64, ptr %24, align 8
  %88 = load i64, ptr %26, align 8
  tail call void %81(i32 noundef 101, i32 noundef 121, i32 noundef %83, i64 noundef %85, i64 noundef %86, ptr noundef nonnull @product.one32, ptr noundef %36, i64 noundef %87, ptr noundef nonnull @product.zero32, ptr noundef %34, i64 noundef %88) #12
  br label %118
89:                                               ; preds = %78
  %90 = load i64, ptr %20, align 8
  %91 = trunc i64 %90 to i32
  %92 = load i64, ptr %21, align 8
  %93 = load i64, ptr %22, align 8
  %94 = load i64, ptr %23, align 8
  %95 = load i64, ptr %24, align 8
  %96 = load i64, ptr %25, align 8
  %97 = load i64, ptr %26, align 8
  tail call void %81(i32 noundef 101, i32 noundef %83, i32 noundef %91, i64 noundef %92, i64 noundef %93, i64 noundef %94, ptr noundef nonnull @product.one32, ptr noundef %36, i64 noundef %95, ptr noundef %35, i64 noundef %96, ptr noundef nonnull @product.zero32, ptr noundef %34, i64 noundef %97) #12
  br label %118
98:                                               ; preds = %31
  %99 = icmp eq ptr %33, %34
  %100 = load i64, ptr %19, align 8
  %101 = inttoptr i64 %100 to ptr
  %102 = load i64, ptr %0, align 8
  %103 = trunc i64 %102 to i32
  br i1 %99, label %104, label %109
104:                                              ; preds = %98
  %105 = load i64, ptr %21, align 8
  %106 = load i64, ptr %23, align 8
  %107 = load i64, ptr %24, align 8
  %108 = load i64, ptr %26, align 8
  tail call void %101(i32 noundef 101, i32 noundef 121, i32 noundef %103, i64 noundef %105, i64 noundef %106, ptr noundef nonnull @product.one64, ptr noundef %36, i64 noundef %107, ptr noundef nonnull @product.zero64, ptr noundef %34, i64 noundef %108) #12
  br label %118
109:                                              ; preds = %98
  %110 = load i64, ptr %20, align 8
  %111 = trunc i64 %110 to i32
  %112 = load i64, ptr %21, align 8
  %113 = load i64, ptr %22, align 8
  %114 = load i64, ptr %23, align 8
  %115 = load i64, ptr %24, align 8
  %116 = load i64, ptr %25, align 8
  %117 = load i64, ptr %26, align 8
  tail call void %101(i32 noundef 101, i32 noundef %103, i32 noundef %111, i64 noundef %112, i64 noundef %113, i64 noundef %114, ptr noundef nonnull @product.one64, ptr noundef %36, i64 noundef %115, ptr noundef %35, i64 noundef %116, ptr noundef nonnull @product.zero64, ptr noundef %34, i64 noundef %117) #12
  br label %118
118:                                              ; preds = %104, %109, %84, %89, %64, %69, %44, %49, %31
  %119 = icmp eq ptr %33, null
  br i1 %119, label %120, label %122
120:                                              ; preds = %118
  %121 = load i64, ptr %27, align 8
  br label %224
122:                                              ; preds = %118
  %123 = load i64, ptr %18, align 8
  %124 = load i64, ptr %21, align 8
  %125 = icmp sgt i64 %124, 0
  switch i64 %123, label %189 [
    i64 0, label %126
    i64 3, label %158
  ]
126:                                              ; preds = %122
  br i1 %125, label %127, label %221
127:                                              ; preds = %126
  %128 = icmp eq ptr %33, %34
  %129 = load i64, ptr %22, align 8
  br label %136
130:                                              ; preds = %143
  %131 = load i64, ptr %21, align 8
  br label %132
132:                                              ; preds = %136, %130
  %133 = phi i64 [ %131, %130 ], [ %137, %136 ]
  %134 = phi i64 [ %156, %130 ], [ %138, %136 ]
  %135 = icmp slt i64 %140, %133
  br i1 %135, label %136, label %221
136:                                              ; preds = %132, %127
  %137 = phi i64 [ %124, %127 ], [ %133, %132 ]
  %138 = phi i64 [ %129, %127 ], [ %134, %132 ]
  %139 = phi i64 [ 0, %127 ], [ %140, %132 ]
  %140 = add nuw nsw i64 %139, 1
  %141 = select i1 %128, i64 %140, i64 0
  %142 = icmp slt i64 %141, %138
  br i1 %142, label %143, label %132
143:                                              ; preds = %136, %143
  %144 = phi i64 [ %155, %143 ], [ %141, %136 ]
  %145 = load i64, ptr %26, align 8
  %146 = mul nsw i64 %145, %144
  %147 = add nsw i64 %146, %139
  %148 = shl nsw i64 %147, 2
  %149 = getelementptr inbounds i8, ptr %33, i64 %148
  %150 = mul nsw i64 %145, %139
  %151 = add nsw i64 %150, %144
  %152 = shl nsw i64 %151, 2
  %153 = getelementptr inbounds i8, ptr %34, i64 %152
  %154 = load i32, ptr %153, align 1
  store i32 %154, ptr %149, align 1
  %155 = add nuw nsw i64 %144, 1
  %156 = load i64, ptr %22, align 8
  %157 = icmp slt i64 %155, %156
  br i1 %157, label %143, label %130
158:                                              ; preds = %122
  br i1 %125, label %159, label %221
159:                                              ; preds = %158
  %160 = icmp eq ptr %33, %34
  %161 = load i64, ptr %22, align 8
  br label %168
162:                                              ; preds = %175
  %163 = load i64, ptr %21, align 8
  br label %164
164:                                              ; preds = %168, %162
  %165 = phi i64 [ %163, %162 ], [ %169, %168 ]
  %166 = phi i64 [ %187, %162 ], [ %170, %168 ]
  %167 = icmp slt i64 %172, %165
  br i1 %167, label %168, label %221
168:                                              ; preds = %164, %159
  %169 = phi i64 [ %124, %159 ], [ %165, %164 ]
  %170 = phi i64 [ %161, %159 ], [ %166, %164 ]
  %171 = phi i64 [ 0, %159 ], [ %172, %164 ]
  %172 = add nuw nsw i64 %171, 1
  %173 = select i1 %160, i64 %172, i64 0
  %174 = icmp slt i64 %173, %170
  br i1 %174, label %175, label %164
175:                                              ; preds = %168, %175
  %176 = phi i64 [ %186, %175 ], [ %173, %168 ]
  %177 = load i64, ptr %26, align 8
  %178 = mul nsw i64 %177, %176
  %179 = add nsw i64 %178, %171
  %180 = shl nsw i64 %179, 4
  %181 = getelementptr inbounds i8, ptr %33, i64 %180
  %182 = mul nsw i64 %177, %171
  %183 = add nsw i64 %182, %176
  %184 = shl nsw i64 %183, 4
  %185 = getelementptr inbounds i8, ptr %34, i64 %184
  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 1 dereferenceable(16) %181, ptr noundef nonnull readonly align 1 dereferenceable(16) %185, i64 16, i1 false)
  %186 = add nuw nsw i64 %176, 1
  %187 = load i64, ptr %22, align 8
  %188 = icmp slt i64 %186, %187
  br i1 %188, label %175, label %162
189:                                              ; preds = %122
  br i1 %125, label %190, label %221
190:                                              ; preds = %189
  %191 = icmp eq ptr %33, %34
  %192 = load i64, ptr %22, align 8
  br label %199
193:                                              ; preds = %206
  %194 = load i64, ptr %21, align 8
  br label %195
195:                                              ; preds = %199, %193
  %196 = phi i64 [ %194, %193 ], [ %200, %199 ]
  %197 = phi i64 [ %219, %193 ], [ %201, %199 ]
  %198 = icmp slt i64 %203, %196
  br i1 %198, label %199, label %221
199:                                              ; preds = %195, %190
  %200 = phi i64 [ %124, %190 ], [ %196, %195 ]
  %201 = phi i64 [ %192, %190 ], [ %197, %195 ]
  %202 = phi i64 [ 0, %190 ], [ %203, %195 ]
  %203 = add nuw nsw i64 %202, 1
  %204 = select i1 %191, i64 %203, i64 0
  %205 = icmp slt i64 %204, %201
  br i1 %205, label %206, label %195
206:                                              ; preds = %199, %206
  %207 = phi i64 [ %218, %206 ], [ %204, %199 ]
  %208 = load i64, ptr %26, align 8
  %209 = mul nsw i64 %208, %207
  %210 = add nsw i64 %209, %202
  %211 = shl nsw i64 %210, 3
  %212 = getelementptr inbounds i8, ptr %33, i64 %211
  %213 = mul nsw i64 %208, %202
  %214 = add nsw i64 %213, %207
  %215 = shl nsw i64 %214, 3
  %216 = getelementptr inbounds i8, ptr %34, i64 %215
  %217 = load i64, ptr %216, align 1
  store i64 %217, ptr %212, align 1
  %218 = add nuw nsw i64 %207, 1
  %219 = load i64, ptr %22, align 8
  %220 = icmp slt i64 %218, %219
  br i1 %220, label %206, label %193
221:                                              ; preds = %164, %132, %195, %189, %158, %126
  %222 = load i64, ptr %27, align 8
  %223 = getelementptr inbounds i8, ptr %33, i64 %222
  br label %224
224:                                              ; preds = %120, %221
  %225 = phi i64 [ %222, %221 ], [ %121, %120 ]
  %226 = phi ptr [ %223, %221 ], [ null, %120 ]
  %227 = load i64, ptr %28, align 8
  %228 = getelementptr inbounds i8, ptr %36, i64 %227
  %229 = load i64, ptr %29, align 8
  %230 = getelementptr inbounds i8, ptr %35, i64 %229
  %231 = getelementptr inbounds i8, ptr %34, i64 %225
  %232 = add nsw i64 %32, -1
  %233 = icmp sgt i64 %32, 1
  br i1 %233, label %31, label %30
}
define internal range(i64 0, 3) i64 @solve(ptr nocapture noundef readonly %0) #2 {
  %2 = alloca i64, align 8
  %3 = alloca i64, align 8
  %4 = alloca i64, align 8
  %5 = alloca double, align 8
  %6 = alloca double, align 8
  %7 = alloca i64, align 8
  %8 = alloca i64, align 8
  %9 = alloca i64, align 8
  %10 = alloca double, align 8
  %11 = alloca double, align 8
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %13 = load i64, ptr %12, align 8
  %14 = icmp eq i64 %13, 8
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 104
  br i1 %14, label %17, label %281
17:                                               ; preds = %1
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %2) #13
  %18 = load i64, ptr %0, align 8
  store i64 %18, ptr %2, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %3) #13
  %19 = load i64, ptr %15, align 8
  store i64 %19, ptr %3, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %4) #13
  store i64 0, ptr %4, align 8
  %20 = shl nsw i64 %18, 3
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %5) #13
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #13
  store double 0.000000e+00, ptr %6, align 8
  %21 = load i64, ptr %16, align 8
  %22 = inttoptr i64 %21 to ptr
  %23 = mul nsw i64 %20, %18
  %24 = getelementptr inbounds i8, ptr %22, i64 %23
  %25 = mul nsw i64 %19, %20
  %26 = getelementptr inbounds i8, ptr %24, i64 %25
  %27 = shl nsw i64 %18, 5
  %28 = getelementptr inbounds i8, ptr %26, i64 %27
  %29 = getelementptr inbounds i8, ptr %28, i64 %20
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %31 = load i64, ptr %30, align 8
  %32 = inttoptr i64 %31 to ptr
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %34 = load i64, ptr %33, align 8
  %35 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %36 = load i64, ptr %35, align 8
  %37 = icmp sgt i64 %18, 0
  br i1 %37, label %38, label %94
38:                                               ; preds = %17
  %39 = and i64 %18, 1
  %40 = icmp eq i64 %18, 1
  %41 = and i64 %18, 9223372036854775806
  %42 = icmp eq i64 %39, 0
  br label %43
43:                                               ; preds = %38, %84
  %44 = phi double [ %87, %84 ], [ 0.000000e+00, %38 ]
  %45 = phi i64 [ %88, %84 ], [ 0, %38 ]
  %46 = mul nsw i64 %45, %34
  %47 = getelementptr inbounds i8, ptr %32, i64 %46
  %48 = mul nuw nsw i64 %45, %20
  %49 = getelementptr inbounds nuw i8, ptr %22, i64 %48
  br i1 %40, label %72, label %50
50:                                               ; preds = %43, %50
  %51 = phi i64 [ %69, %50 ], [ 0, %43 ]
  %52 = phi double [ %68, %50 ], [ 0.000000e+00, %43 ]
  %53 = phi i64 [ %70, %50 ], [ 0, %43 ]
  %54 = mul nsw i64 %51, %36
  %55 = getelementptr inbounds i8, ptr %47, i64 %54
  %56 = shl nsw i64 %51, 3
  %57 = getelementptr inbounds nuw i8, ptr %49, i64 %56
  %58 = load double, ptr %55, align 1
  store double %58, ptr %57, align 1
  %59 = tail call double @llvm.fabs.f64(double %58)
  %60 = fadd double %52, %59
  %61 = or disjoint i64 %51, 1
  %62 = mul nsw i64 %61, %36
  %63 = getelementptr inbounds i8, ptr %47, i64 %62
  %64 = shl nsw i64 %61, 3
  %65 = getelementptr inbounds nuw i8, ptr %49, i64 %64
  %66 = load double, ptr %63, align 1
  store double %66, ptr %65, align 1
  %67 = tail call double @llvm.fabs.f64(double %66)
  %68 = fadd double %60, %67
  %69 = add nuw nsw i64 %51, 2
  %70 = add i64 %53, 2
  %71 = icmp eq i64 %70, %41
  br i1 %71, label %72, label %50
72:                                               ; preds = %50, %43
  %73 = phi double [ poison, %43 ], [ %68, %50 ]
  %74 = phi i64 [ 0, %43 ], [ %69, %50 ]
  %75 = phi double [ 0.000000e+00, %43 ], [ %68, %50 ]
  br i1 %42, label %84, label %76
76:                                               ; preds = %72
  %77 = mul nsw i64 %74, %36
  %78 = getelementptr inbounds i8, ptr %47, i64 %77
  %79 = shl nsw i64 %74, 3
  %80 = getelementptr inbounds nuw i8, ptr %49, i64 %79
  %81 = load double, ptr %78, align 1
  store double %81, ptr %80, align 1
  %82 = tail call double @llvm.fabs.f64(double %81)
  %83 = fadd double %75, %82
  br label %84
84:                                               ; preds = %72, %76
  %85 = phi double [ %73, %72 ], [ %83, %76 ]
  %86 = fcmp ole double %85, %44
  %87 = select i1 %86, double %44, double %85
  %88 = add nuw nsw i64 %45, 1
  %89 = icmp eq i64 %88, %18
  br i1 %89, label %90, label %43
90:                                               ; preds = %84
  store double %87, ptr %5, align 8
  %91 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %92 = load i64, ptr %91, align 8
  %93 = icmp eq i64 %92, 0
  br i1 %93, label %164, label %99
94:                                               ; preds = %17
  store double 0.000000e+00, ptr %5, align 8
  %95 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %96 = load i64, ptr %95, align 8
  %97 = icmp eq i64 %96, 0
  br i1 %97, label %98, label %99
98:                                               ; preds = %94
  tail call void @llvm.memset.p0.i64(ptr align 1 %24, i8 0, i64 %25, i1 false)
  br label %198
99:                                               ; preds = %94, %90
  %100 = phi i64 [ %96, %94 ], [ %92, %90 ]
  %101 = inttoptr i64 %100 to ptr
  %102 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %103 = load i64, ptr %102, align 8
  %104 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %105 = load i64, ptr %104, align 8
  %106 = icmp sgt i64 %19, 0
  br i1 %106, label %107, label %198
107:                                              ; preds = %99
  %108 = and i64 %18, 3
  %109 = icmp ult i64 %18, 4
  %110 = and i64 %18, 9223372036854775804
  %111 = icmp eq i64 %108, 0
  br label %112
112:                                              ; preds = %107, %161
  %113 = phi i64 [ %162, %161 ], [ 0, %107 ]
  br i1 %37, label %114, label %161
114:                                              ; preds = %112
  %115 = mul nsw i64 %113, %103
  %116 = getelementptr inbounds i8, ptr %101, i64 %115
  %117 = mul nuw nsw i64 %113, %20
  %118 = getelementptr inbounds nuw i8, ptr %24, i64 %117
  br i1 %109, label %148, label %119
119:                                              ; preds = %114, %119
  %120 = phi i64 [ %145, %119 ], [ 0, %114 ]
  %121 = phi i64 [ %146, %119 ], [ 0, %114 ]
  %122 = mul nsw i64 %120, %105
  %123 = getelementptr inbounds i8, ptr %116, i64 %122
  %124 = shl nsw i64 %120, 3
  %125 = getelementptr inbounds nuw i8, ptr %118, i64 %124
  %126 = load double, ptr %123, align 1
  store double %126, ptr %125, align 1
  %127 = or disjoint i64 %120, 1
  %128 = mul nsw i64 %127, %105
  %129 = getelementptr inbounds i8, ptr %116, i64 %128
  %130 = shl nsw i64 %127, 3
  %131 = getelementptr inbounds nuw i8, ptr %118, i64 %130
  %132 = load double, ptr %129, align 1
  store double %132, ptr %131, align 1
  %133 = or disjoint i64 %120, 2
  %134 = mul nsw i64 %133, %105
  %135 = getelementptr inbounds i8, ptr %116, i64 %134
  %136 = shl nsw i64 %133, 3
  %137 = getelementptr inbounds nuw i8, ptr %118, i64 %136
  %138 = load double, ptr %135, align 1
  store double %138, ptr %137, align 1
  %139 = or disjoint i64 %120, 3
  %140 = mul nsw i64 %139, %105
  %141 = getelementptr inbounds i8, ptr %116, i64 %140
  %142 = shl nsw i64 %139, 3
  %143 = getelementptr inbounds nuw i8, ptr %118, i64 %142
  %144 = load double, ptr %141, align 1
  store double %144, ptr %143, align 1
  %145 = add nuw nsw i64 %120, 4
  %146 = add i64 %121, 4
  %147 = icmp eq i64 %146, %110
  br i1 %147, label %148, label %119
148:                                              ; preds = %119, %114
  %149 = phi i64 [ 0, %114 ], [ %145, %119 ]
  br i1 %111, label %161, label %150
150:                                              ; preds = %148, %150
  %151 = phi i64 [ %158, %150 ], [ %149, %148 ]
  %152 = phi i64 [ %159, %150 ], [ 0, %148 ]
  %153 = mul nsw i64 %151, %105
  %154 = getelementptr inbounds i8, ptr %116, i64 %153
  %155 = shl nsw i64 %151, 3
  %156 = getelementptr inbounds nuw i8, ptr %118, i64 %155
  %157 = load double, ptr %154, align 1
  store double %157, ptr %156, align 1
  %158 = add nuw nsw i64 %151, 1
  %159 = add i64 %152, 1
  %160 = icmp eq i64 %159, %108
  br i1 %160, label %161, label %150
161:                                              ; preds = %148, %150, %112
  %162 = add nuw nsw i64 %113, 1
  %163 = icmp eq i64 %162, %19
  br i1 %163, label %198, label %112
164:                                              ; preds = %90
  tail call void @llvm.memset.p0.i64(ptr nonnull align 1 %24, i8 0, i64 %25, i1 false)
  %165 = add nuw nsw i64 %20, 8
  %166 = and i64 %18, 3
  %167 = icmp ult i64 %18, 4
  br i1 %167, label %187, label %168
168:                                              ; preds = %164
  %169 = and i64 %18, 9223372036854775804
  br label %170
170:                                              ; preds = %170, %168
  %171 = phi i64 [ 0, %168 ], [ %184, %170 ]
  %172 = phi i64 [ 0, %168 ], [ %185, %170 ]
  %173 = mul nuw nsw i64 %171, %165
  %174 = getelementptr inbounds nuw i8, ptr %24, i64 %173
  store double 1.000000e+00, ptr %174, align 1
  %175 = or disjoint i64 %171, 1
  %176 = mul nuw nsw i64 %175, %165
  %177 = getelementptr inbounds nuw i8, ptr %24, i64 %176
  store double 1.000000e+00, ptr %177, align 1
  %178 = or disjoint i64 %171, 2
  %179 = mul nuw nsw i64 %178, %165
  %180 = getelementptr inbounds nuw i8, ptr %24, i64 %179
  store double 1.000000e+00, ptr %180, align 1
  %181 = or disjoint i64 %171, 3
  %182 = mul nuw nsw i64 %181, %165
  %183 = getelementptr inbounds nuw i8, ptr %24, i64 %182
  store double 1.000000e+00, ptr %183, align 1
  %184 = add nuw nsw i64 %171, 4
  %185 = add i64 %172, 4
  %186 = icmp eq i64 %185, %169
  br i1 %186, label %187, label %170
187:                                              ; preds = %170, %164
  %188 = phi i64 [ 0, %164 ], [ %184, %170 ]
  %189 = icmp eq i64 %166, 0
  br i1 %189, label %198, label %190
190:                                              ; preds = %187, %190
  %191 = phi i64 [ %195, %190 ], [ %188, %187 ]
  %192 = phi i64 [ %196, %190 ], [ 0, %187 ]
  %193 = mul nuw nsw i64 %191, %165
  %194 = getelementptr inbounds nuw i8, ptr %24, i64 %193
  store double 1.000000e+00, ptr %194, align 1
  %195 = add nuw nsw i64 %191, 1
  %196 = add i64 %192, 1
  %197 = icmp eq i64 %196, %166
  br i1 %197, label %198, label %190
198:                                              ; preds = %161, %187, %190, %98, %99
  %199 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %200 = load i64, ptr %199, align 8
  %201 = inttoptr i64 %200 to ptr
  call void %201(ptr noundef nonnull %2, ptr noundef nonnull %3, ptr noundef %22, ptr noundef nonnull %2, ptr noundef %28, ptr noundef %24, ptr noundef nonnull %2, ptr noundef nonnull %4) #12
  %202 = load i64, ptr %4, align 8
  %203 = icmp eq i64 %202, 0
  br i1 %203, label %204, label %279
204:                                              ; preds = %198
  %205 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %206 = load i64, ptr %205, align 8
  %207 = inttoptr i64 %206 to ptr
  call void %207(ptr noundef nonnull @.str, ptr noundef nonnull %2, ptr noundef %22, ptr noundef nonnull %2, ptr noundef nonnull %5, ptr noundef nonnull %6, ptr noundef %26, ptr noundef %29, ptr noundef nonnull %4, i64 noundef 1) #12
  %208 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %209 = load i64, ptr %208, align 8
  %210 = inttoptr i64 %209 to ptr
  %211 = load i64, ptr %3, align 8
  %212 = shl nsw i64 %211, 3
  %213 = load i64, ptr %2, align 8
  %214 = icmp sgt i64 %211, 0
  br i1 %214, label %215, label %273
215:                                              ; preds = %204
  %216 = icmp sgt i64 %213, 0
  %217 = and i64 %213, 3
  %218 = icmp ult i64 %213, 4
  %219 = and i64 %213, 9223372036854775804
  %220 = icmp eq i64 %217, 0
  br label %221
221:                                              ; preds = %215, %270
  %222 = phi i64 [ 0, %215 ], [ %271, %270 ]
  br i1 %216, label %223, label %270
223:                                              ; preds = %221
  %224 = mul nsw i64 %222, %20
  %225 = getelementptr inbounds i8, ptr %24, i64 %224
  %226 = shl nsw i64 %222, 3
  %227 = getelementptr inbounds nuw i8, ptr %210, i64 %226
  br i1 %218, label %257, label %228
228:                                              ; preds = %223, %228
  %229 = phi i64 [ %254, %228 ], [ 0, %223 ]
  %230 = phi i64 [ %255, %228 ], [ 0, %223 ]
  %231 = shl nsw i64 %229, 3
  %232 = getelementptr inbounds nuw i8, ptr %225, i64 %231
  %233 = mul nuw nsw i64 %212, %229
  %234 = getelementptr inbounds nuw i8, ptr %227, i64 %233
  %235 = load double, ptr %232, align 1
  store double %235, ptr %234, align 1
  %236 = or disjoint i64 %229, 1
  %237 = shl nsw i64 %236, 3
  %238 = getelementptr inbounds nuw i8, ptr %225, i64 %237
  %239 = mul nuw nsw i64 %212, %236
  %240 = getelementptr inbounds nuw i8, ptr %227, i64 %239
  %241 = load double, ptr %238, align 1
  store double %241, ptr %240, align 1
  %242 = or disjoint i64 %229, 2
  %243 = shl nsw i64 %242, 3
  %244 = getelementptr inbounds nuw i8, ptr %225, i64 %243
  %245 = mul nuw nsw i64 %212, %242
  %246 = getelementptr inbounds nuw i8, ptr %227, i64 %245
  %247 = load double, ptr %244, align 1
  store double %247, ptr %246, align 1
  %248 = or disjoint i64 %229, 3
  %249 = shl nsw i64 %248, 3
  %250 = getelementptr inbounds nuw i8, ptr %225, i64 %249
  %251 = mul nuw nsw i64 %212, %248
  %252 = getelementptr inbounds nuw i8, ptr %227, i64 %251
  %253 = load double, ptr %250, align 1
  store double %253, ptr %252, align 1
  %254 = add nuw nsw i64 %229, 4
  %255 = add i64 %230, 4
  %256 = icmp eq i64 %255, %219
  br i1 %256, label %257, label %228
257:                                              ; preds = %228, %223
  %258 = phi i64 [ 0, %223 ], [ %254, %228 ]
  br i1 %220, label %270, label %259
259:                                              ; preds = %257, %259
  %260 = phi i64 [ %267, %259 ], [ %258, %257 ]
  %261 = phi i64 [ %268, %259 ], [ 0, %257 ]
  %262 = shl nsw i64 %260, 3
  %263 = getelementptr inbounds nuw i8, ptr %225, i64 %262
  %264 = mul nuw nsw i64 %212, %260
  %265 = getelementptr inbounds nuw i8, ptr %227, i64 %264
  %266 = load double, ptr %263, align 1
  store double %266, ptr %265, align 1
  %267 = add nuw nsw i64 %260, 1
  %268 = add i64 %261, 1
  %269 = icmp eq i64 %268, %217
  br i1 %269, label %270, label %259
270:                                              ; preds = %257, %259, %221
  %271 = add nuw nsw i64 %222, 1
  %272 = icmp eq i64 %271, %211
  br i1 %272, label %273, label %221
273:                                              ; preds = %270, %204
  %274 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %275 = load double, ptr %274, align 8
  %276 = load double, ptr %6, align 8
  %277 = fcmp ogt double %276, %275
  %278 = select i1 %277, i64 0, i64 2
  br label %279
279:                                              ; preds = %198, %273
  %280 = phi i64 [ %278, %273 ], [ 1, %198 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #13
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %5) #13
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %4) #13
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #13
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %2) #13
  br label %507
281:                                              ; preds = %1
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %7) #13
  %282 = load i64, ptr %0, align 8
  store i64 %282, ptr %7, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %8) #13
  %283 = load i64, ptr %15, align 8
  store i64 %283, ptr %8, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %9) #13
  store i64 0, ptr %9, align 8
  %284 = shl nsw i64 %282, 4
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %10) #13
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %11) #13
  store double 0.000000e+00, ptr %11, align 8
  %285 = load i64, ptr %16, align 8
  %286 = inttoptr i64 %285 to ptr
  %287 = mul nsw i64 %284, %282
  %288 = getelementptr inbounds i8, ptr %286, i64 %287
  %289 = mul nsw i64 %283, %284
  %290 = getelementptr inbounds i8, ptr %288, i64 %289
  %291 = shl nsw i64 %282, 6
  %292 = getelementptr inbounds i8, ptr %290, i64 %291
  %293 = shl nsw i64 %282, 3
  %294 = getelementptr inbounds i8, ptr %292, i64 %293
  %295 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %296 = load i64, ptr %295, align 8
  %297 = inttoptr i64 %296 to ptr
  %298 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %299 = load i64, ptr %298, align 8
  %300 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %301 = load i64, ptr %300, align 8
  %302 = icmp sgt i64 %282, 0
  br i1 %302, label %303, label %336
303:                                              ; preds = %281, %327
  %304 = phi double [ %329, %327 ], [ 0.000000e+00, %281 ]
  %305 = phi i64 [ %330, %327 ], [ 0, %281 ]
  %306 = mul nsw i64 %305, %299
  %307 = getelementptr inbounds i8, ptr %297, i64 %306
  %308 = mul nuw nsw i64 %305, %284
  %309 = getelementptr inbounds nuw i8, ptr %286, i64 %308
  br label %310
310:                                              ; preds = %303, %310
  %311 = phi i64 [ 0, %303 ], [ %325, %310 ]
  %312 = phi double [ 0.000000e+00, %303 ], [ %324, %310 ]
  %313 = mul nsw i64 %311, %301
  %314 = getelementptr inbounds i8, ptr %307, i64 %313
  %315 = shl nsw i64 %311, 4
  %316 = getelementptr inbounds nuw i8, ptr %309, i64 %315
  %317 = load double, ptr %314, align 1
  store double %317, ptr %316, align 1
  %318 = tail call double @llvm.fabs.f64(double %317)
  %319 = fadd double %312, %318
  %320 = getelementptr inbounds nuw i8, ptr %314, i64 8
  %321 = load double, ptr %320, align 1
  %322 = getelementptr inbounds nuw i8, ptr %316, i64 8
  store double %321, ptr %322, align 1
  %323 = tail call double @llvm.fabs.f64(double %321)
  %324 = fadd double %319, %323
  %325 = add nuw nsw i64 %311, 1
  %326 = icmp eq i64 %325, %282
  br i1 %326, label %327, label %310
327:                                              ; preds = %310
  %328 = fcmp ole double %324, %304
  %329 = select i1 %328, double %304, double %324
  %330 = add nuw nsw i64 %305, 1
  %331 = icmp eq i64 %330, %282
  br i1 %331, label %332, label %303
332:                                              ; preds = %327
  store double %329, ptr %10, align 8
  %333 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %334 = load i64, ptr %333, align 8
  %335 = icmp eq i64 %334, 0
  br i1 %335, label %398, label %341
336:                                              ; preds = %281
  store double 0.000000e+00, ptr %10, align 8
  %337 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %338 = load i64, ptr %337, align 8
  %339 = icmp eq i64 %338, 0
  br i1 %339, label %340, label %341
340:                                              ; preds = %336
  tail call void @llvm.memset.p0.i64(ptr align 1 %288, i8 0, i64 %289, i1 false)
  br label %432
341:                                              ; preds = %336, %332
  %342 = phi i64 [ %338, %336 ], [ %334, %332 ]
  %343 = inttoptr i64 %342 to ptr
  %344 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %345 = load i64, ptr %344, align 8
  %346 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %347 = load i64, ptr %346, align 8
  %348 = icmp sgt i64 %283, 0
  br i1 %348, label %349, label %432
349:                                              ; preds = %341
  %350 = and i64 %282, 1
  %351 = icmp eq i64 %282, 1
  %352 = and i64 %282, 9223372036854775806
  %353 = icmp eq i64 %350, 0
  br label %354
354:                                              ; preds = %349, %395
  %355 = phi i64 [ %396, %395 ], [ 0, %349 ]
  br i1 %302, label %356, label %395
356:                                              ; preds = %354
  %357 = mul nsw i64 %355, %345
  %358 = getelementptr inbounds i8, ptr %343, i64 %357
  %359 = mul nuw nsw i64 %355, %284
  %360 = getelementptr inbounds nuw i8, ptr %288, i64 %359
  br i1 %351, label %384, label %361
361:                                              ; preds = %356, %361
  %362 = phi i64 [ %381, %361 ], [ 0, %356 ]
  %363 = phi i64 [ %382, %361 ], [ 0, %356 ]
  %364 = mul nsw i64 %362, %347
  %365 = getelementptr inbounds i8, ptr %358, i64 %364
  %366 = shl nsw i64 %362, 4
  %367 = getelementptr inbounds nuw i8, ptr %360, i64 %366
  %368 = load double, ptr %365, align 1
  store double %368, ptr %367, align 1
  %369 = getelementptr inbounds nuw i8, ptr %365, i64 8
  %370 = load double, ptr %369, align 1
  %371 = getelementptr inbounds nuw i8, ptr %367, i64 8
  store double %370, ptr %371, align 1
  %372 = or disjoint i64 %362, 1
  %373 = mul nsw i64 %372, %347
  %374 = getelementptr inbounds i8, ptr %358, i64 %373
  %375 = shl nsw i64 %372, 4
  %376 = getelementptr inbounds nuw i8, ptr %360, i64 %375
  %377 = load double, ptr %374, align 1
  store double %377, ptr %376, align 1
  %378 = getelementptr inbounds nuw i8, ptr %374, i64 8
  %379 = load double, ptr %378, align 1
  %380 = getelementptr inbounds nuw i8, ptr %376, i64 8
  store double %379, ptr %380, align 1
  %381 = add nuw nsw i64 %362, 2
  %382 = add i64 %363, 2
  %383 = icmp eq i64 %382, %352
  br i1 %383, label %384, label %361
384:                                              ; preds = %361, %356
  %385 = phi i64 [ 0, %356 ], [ %381, %361 ]
  br i1 %353, label %395, label %386
386:                                              ; preds = %384
  %387 = mul nsw i64 %385, %347
  %388 = getelementptr inbounds i8, ptr %358, i64 %387
  %389 = shl nsw i64 %385, 4
  %390 = getelementptr inbounds nuw i8, ptr %360, i64 %389
  %391 = load double, ptr %388, align 1
  store double %391, ptr %390, align 1
  %392 = getelementptr inbounds nuw i8, ptr %388, i64 8
  %393 = load double, ptr %392, align 1
  %394 = getelementptr inbounds nuw i8, ptr %390, i64 8
  store double %393, ptr %394, align 1
  br label %395
395:                                              ; preds = %386, %384, %354
  %396 = add nuw nsw i64 %355, 1
  %397 = icmp eq i64 %396, %283
  br i1 %397, label %432, label %354
398:                                              ; preds = %332
  tail call void @llvm.memset.p0.i64(ptr nonnull align 1 %288, i8 0, i64 %289, i1 false)
  %399 = add nuw nsw i64 %284, 16
  %400 = and i64 %282, 3
  %401 = icmp ult i64 %282, 4
  br i1 %401, label %421, label %402
402:                                              ; preds = %398
  %403 = and i64 %282, 9223372036854775804
  br label %404
404:                                              ; preds = %404, %402
  %405 = phi i64 [ 0, %402 ], [ %418, %404 ]
  %406 = phi i64 [ 0, %402 ], [ %419, %404 ]
  %407 = mul nuw nsw i64 %405, %399
  %408 = getelementptr inbounds nuw i8, ptr %288, i64 %407
  store double 1.000000e+00, ptr %408, align 1
  %409 = or disjoint i64 %405, 1
  %410 = mul nuw nsw i64 %409, %399
  %411 = getelementptr inbounds nuw i8, ptr %288, i64 %410
  store double 1.000000e+00, ptr %411, align 1
  %412 = or disjoint i64 %405, 2
  %413 = mul nuw nsw i64 %412, %399
  %414 = getelementptr inbounds nuw i8, ptr %288, i64 %413
  store double 1.000000e+00, ptr %414, align 1
  %415 = or disjoint i64 %405, 3
  %416 = mul nuw nsw i64 %415, %399
  %417 = getelementptr inbounds nuw i8, ptr %288, i64 %416
  store double 1.000000e+00, ptr %417, align 1
  %418 = add nuw nsw i64 %405, 4
  %419 = add i64 %406, 4
  %420 = icmp eq i64 %419, %403
  br i1 %420, label %421, label %404
421:                                              ; preds = %404, %398
  %422 = phi i64 [ 0, %398 ], [ %418, %404 ]
  %423 = icmp eq i64 %400, 0
  br i1 %423, label %432, label %424
424:                                              ; preds = %421, %424
  %425 = phi i64 [ %429, %424 ], [ %422, %421 ]
  %426 = phi i64 [ %430, %424 ], [ 0, %421 ]
  %427 = mul nuw nsw i64 %425, %399
  %428 = getelementptr inbounds nuw i8, ptr %288, i64 %427
  store double 1.000000e+00, ptr %428, align 1
  %429 = add nuw nsw i64 %425, 1
  %430 = add i64 %426, 1
  %431 = icmp eq i64 %430, %400
  br i1 %431, label %432, label %424
432:                                              ; preds = %395, %421, %424, %340, %341
  %433 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %434 = load i64, ptr %433, align 8
  %435 = inttoptr i64 %434 to ptr
  call void %435(ptr noundef nonnull %7, ptr noundef nonnull %8, ptr noundef %286, ptr noundef nonnull %7, ptr noundef %292, ptr noundef %288, ptr noundef nonnull %7, ptr noundef nonnull %9) #12
  %436 = load i64, ptr %9, align 8
  %437 = icmp eq i64 %436, 0
  br i1 %437, label %438, label %505
438:                                              ; preds = %432
  %439 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %440 = load i64, ptr %439, align 8
  %441 = inttoptr i64 %440 to ptr
  call void %441(ptr noundef nonnull @.str, ptr noundef nonnull %7, ptr noundef %286, ptr noundef nonnull %7, ptr noundef nonnull %10, ptr noundef nonnull %11, ptr noundef %290, ptr noundef %294, ptr noundef nonnull %9, i64 noundef 1) #12
  %442 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %443 = load i64, ptr %442, align 8
  %444 = inttoptr i64 %443 to ptr
  %445 = load i64, ptr %8, align 8
  %446 = shl nsw i64 %445, 4
  %447 = load i64, ptr %7, align 8
  %448 = icmp sgt i64 %445, 0
  br i1 %448, label %449, label %499
449:                                              ; preds = %438
  %450 = icmp sgt i64 %447, 0
  %451 = and i64 %447, 1
  %452 = icmp eq i64 %447, 1
  %453 = and i64 %447, 9223372036854775806
  %454 = icmp eq i64 %451, 0
  br label %455
455:                                              ; preds = %449, %496
  %456 = phi i64 [ 0, %449 ], [ %497, %496 ]
  br i1 %450, label %457, label %496
457:                                              ; preds = %455
  %458 = mul nsw i64 %456, %284
  %459 = getelementptr inbounds i8, ptr %288, i64 %458
  %460 = shl nsw i64 %456, 4
  %461 = getelementptr inbounds nuw i8, ptr %444, i64 %460
  br i1 %452, label %485, label %462
462:                                              ; preds = %457, %462
  %463 = phi i64 [ %482, %462 ], [ 0, %457 ]
  %464 = phi i64 [ %483, %462 ], [ 0, %457 ]
  %465 = shl nsw i64 %463, 4
  %466 = getelementptr inbounds nuw i8, ptr %459, i64 %465
  %467 = mul nuw nsw i64 %446, %463
  %468 = getelementptr inbounds nuw i8, ptr %461, i64 %467
  %469 = load double, ptr %466, align 1
  store double %469, ptr %468, align 1
  %470 = getelementptr inbounds nuw i8, ptr %466, i64 8
  %471 = load double, ptr %470, align 1
  %472 = getelementptr inbounds nuw i8, ptr %468, i64 8
  store double %471, ptr %472, align 1
  %473 = or disjoint i64 %463, 1
  %474 = shl nsw i64 %473, 4
  %475 = getelementptr inbounds nuw i8, ptr %459, i64 %474
  %476 = mul nuw nsw i64 %446, %473
  %477 = getelementptr inbounds nuw i8, ptr %461, i64 %476
  %478 = load double, ptr %475, align 1
  store double %478, ptr %477, align 1
  %479 = getelementptr inbounds nuw i8, ptr %475, i64 8
  %480 = load double, ptr %479, align 1
  %481 = getelementptr inbounds nuw i8, ptr %477, i64 8
  store double %480, ptr %481, align 1
  %482 = add nuw nsw i64 %463, 2
  %483 = add i64 %464, 2
  %484 = icmp eq i64 %483, %453
  br i1 %484, label %485, label %462
485:                                              ; preds = %462, %457
  %486 = phi i64 [ 0, %457 ], [ %482, %462 ]
  br i1 %454, label %496, label %487
487:                                              ; preds = %485
  %488 = shl nsw i64 %486, 4
  %489 = getelementptr inbounds nuw i8, ptr %459, i64 %488
  %490 = mul nuw nsw i64 %446, %486
  %491 = getelementptr inbounds nuw i8, ptr %461, i64 %490
  %492 = load double, ptr %489, align 1
  store double %492, ptr %491, align 1
  %493 = getelementptr inbounds nuw i8, ptr %489, i64 8
  %494 = load double, ptr %493, align 1
  %495 = getelementptr inbounds nuw i8, ptr %491, i64 8
  store double %494, ptr %495, align 1
  br label %496
496:                                              ; preds = %487, %485, %455
  %497 = add nuw nsw i64 %456, 1
  %498 = icmp eq i64 %497, %445
  br i1 %498, label %499, label %455
499:                                              ; preds = %496, %438
  %500 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %501 = load double, ptr %500, align 8
  %502 = load double, ptr %11, align 8
  %503 = fcmp ogt double %502, %501
  %504 = select i1 %503, i64 0, i64 2
  br label %505
505:                                              ; preds = %432, %499
  %506 = phi i64 [ %504, %499 ], [ 1, %432 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %11) #13
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %10) #13
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9) #13
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #13
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #13
  br label %507
507:                                              ; preds = %505, %279
  %508 = phi i64 [ %280, %279 ], [ %506, %505 ]
  ret i64 %508
}
define internal range(i64 0, 2) i64 @sorted_rows(ptr nocapture noundef readonly %0) #2 {
  %2 = alloca i64, align 8
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %4 = load i64, ptr %3, align 8
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %6 = load i64, ptr %5, align 8
  %7 = mul nsw i64 %6, %4
  %8 = load i64, ptr %0, align 8
  %9 = icmp sgt i64 %8, 0
  br i1 %9, label %10, label %287
10:                                               ; preds = %1
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %12 = load i64, ptr %11, align 8
  %13 = inttoptr i64 %12 to ptr
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %15 = load i64, ptr %14, align 8
  %16 = inttoptr i64 %15 to ptr
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %20 = icmp eq i64 %4, 0
  %21 = icmp sgt i64 %4, 0
  %22 = add nsw i64 %4, -1
  br label %23
23:                                               ; preds = %10, %281
  %24 = phi i64 [ 0, %10 ], [ %282, %281 ]
  %25 = phi ptr [ %13, %10 ], [ %284, %281 ]
  %26 = phi ptr [ %16, %10 ], [ %283, %281 ]
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %25, ptr align 1 %26, i64 %7, i1 false)
  %27 = load i64, ptr %17, align 8
  %28 = inttoptr i64 %27 to ptr
  %29 = tail call i32 %28(ptr noundef %25, i64 noundef %4, ptr noundef null) #12
  %30 = icmp eq i32 %29, 0
  br i1 %30, label %31, label %287
31:                                               ; preds = %23
  %32 = load i64, ptr %18, align 8
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %34, label %51
34:                                               ; preds = %31
  %35 = load i64, ptr %19, align 8
  %36 = icmp eq i64 %35, 0
  br i1 %36, label %281, label %37
37:                                               ; preds = %34
  %38 = load i64, ptr %5, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %2)
  store i64 0, ptr %2, align 8
  %39 = mul nsw i64 %38, %22
  %40 = icmp sgt i64 %39, 0
  br i1 %40, label %41, label %50
41:                                               ; preds = %37
  %42 = getelementptr inbounds nuw i8, ptr %25, i64 %39
  %43 = sub i64 0, %38
  br label %44
44:                                               ; preds = %44, %41
  %45 = phi ptr [ %42, %41 ], [ %48, %44 ]
  %46 = phi ptr [ %25, %41 ], [ %47, %44 ]
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 %2, ptr align 1 %46, i64 %38, i1 false)
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %46, ptr nonnull align 1 %45, i64 %38, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 1 %45, ptr nonnull align 8 %2, i64 %38, i1 false)
  %47 = getelementptr inbounds i8, ptr %46, i64 %38
  %48 = getelementptr inbounds i8, ptr %45, i64 %43
  %49 = icmp ult ptr %47, %48
  br i1 %49, label %44, label %50
50:                                               ; preds = %44, %37
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %2)
  br label %281
51:                                               ; preds = %31
  %52 = load i64, ptr %5, align 8
  %53 = icmp eq i64 %52, 8
  %54 = load i64, ptr %19, align 8
  br i1 %53, label %55, label %168
55:                                               ; preds = %51
  %56 = getelementptr i8, ptr %25, i64 -8
  br i1 %20, label %69, label %57
57:                                               ; preds = %55, %62
  %58 = phi i64 [ %63, %62 ], [ %4, %55 ]
  %59 = getelementptr double, ptr %56, i64 %58
  %60 = load double, ptr %59, align 8
  %61 = fcmp uno double %60, 0.000000e+00
  br i1 %61, label %62, label %65
62:                                               ; preds = %57
  %63 = add nsw i64 %58, -1
  %64 = icmp eq i64 %63, 0
  br i1 %64, label %65, label %57
65:                                               ; preds = %62, %57
  %66 = phi i64 [ 0, %62 ], [ %58, %57 ]
  %67 = icmp slt i64 %66, %4
  %68 = and i1 %21, %67
  br i1 %68, label %74, label %69
69:                                               ; preds = %83, %65, %55
  %70 = phi i1 [ %21, %65 ], [ false, %55 ], [ true, %83 ]
  %71 = phi i1 [ %61, %65 ], [ true, %55 ], [ %61, %83 ]
  %72 = phi i64 [ %66, %65 ], [ 0, %55 ], [ %66, %83 ]
  %73 = icmp eq i64 %54, 0
  br i1 %73, label %103, label %89
74:                                               ; preds = %65, %83
  %75 = phi i64 [ %84, %83 ], [ %66, %65 ]
  %76 = phi i64 [ %85, %83 ], [ 0, %65 ]
  %77 = getelementptr inbounds nuw double, ptr %26, i64 %76
  %78 = load double, ptr %77, align 8
  %79 = fcmp uno double %78, 0.000000e+00
  br i1 %79, label %80, label %83
80:                                               ; preds = %74
  %81 = add nsw i64 %75, 1
  %82 = getelementptr inbounds double, ptr %25, i64 %75
  store double %78, ptr %82, align 8
  br label %83
83:                                               ; preds = %80, %74
  %84 = phi i64 [ %81, %80 ], [ %75, %74 ]
  %85 = add nuw nsw i64 %76, 1
  %86 = icmp slt i64 %84, %4
  %87 = icmp slt i64 %85, %4
  %88 = select i1 %86, i1 %87, i1 false
  br i1 %88, label %74, label %69
89:                                               ; preds = %69
  %90 = shl i64 %72, 3
  %91 = add i64 %90, -8
  %92 = icmp sgt i64 %91, 0
  br i1 %92, label %93, label %103
93:                                               ; preds = %89
  %94 = getelementptr inbounds nuw i8, ptr %25, i64 %91
  br label %95
95:                                               ; preds = %95, %93
  %96 = phi ptr [ %94, %93 ], [ %101, %95 ]
  %97 = phi ptr [ %25, %93 ], [ %100, %95 ]
  %98 = load i64, ptr %97, align 1
  %99 = load i64, ptr %96, align 1
  store i64 %99, ptr %97, align 1
  store i64 %98, ptr %96, align 1
  %100 = getelementptr inbounds nuw i8, ptr %97, i64 8
  %101 = getelementptr inbounds i8, ptr %96, i64 -8
  %102 = icmp ult ptr %100, %101
  br i1 %102, label %95, label %103
103:                                              ; preds = %95, %89, %69
  br i1 %71, label %281, label %104
104:                                              ; preds = %103
  %105 = load double, ptr %25, align 8
  %106 = fcmp ogt double %105, 0.000000e+00
  br i1 %106, label %107, label %112
107:                                              ; preds = %104
  %108 = getelementptr double, ptr %25, i64 %72
  %109 = getelementptr i8, ptr %108, i64 -8
  %110 = load double, ptr %109, align 8
  %111 = fcmp ogt double %110, 0.000000e+00
  br i1 %111, label %281, label %112
112:                                              ; preds = %107, %104
  %113 = fcmp olt double %105, 0.000000e+00
  br i1 %113, label %114, label %119
114:                                              ; preds = %112
  %115 = getelementptr double, ptr %25, i64 %72
  %116 = getelementptr i8, ptr %115, i64 -8
  %117 = load double, ptr %116, align 8
  %118 = fcmp olt double %117, 0.000000e+00
  br i1 %118, label %281, label %119
119:                                              ; preds = %114, %112
  %120 = icmp eq i64 %72, 0
  br i1 %120, label %121, label %124
121:                                              ; preds = %124, %119
  %122 = phi i64 [ 0, %119 ], [ %136, %124 ]
  %123 = icmp slt i64 %122, %72
  br i1 %123, label %141, label %149
124:                                              ; preds = %119, %124
  %125 = phi i64 [ %136, %124 ], [ 0, %119 ]
  %126 = phi i64 [ %139, %124 ], [ %72, %119 ]
  %127 = sdiv i64 %126, 2
  %128 = getelementptr double, ptr %25, i64 %125
  %129 = getelementptr double, ptr %128, i64 %127
  %130 = load double, ptr %129, align 8
  %131 = fcmp ogt double %130, 0.000000e+00
  %132 = fcmp olt double %130, 0.000000e+00
  %133 = select i1 %73, i1 %132, i1 %131
  %134 = add nsw i64 %127, 1
  %135 = select i1 %133, i64 %134, i64 0
  %136 = add nsw i64 %135, %125
  %137 = xor i64 %127, -1
  %138 = add i64 %126, %137
  %139 = select i1 %133, i64 %138, i64 %127
  %140 = icmp eq i64 %139, 0
  br i1 %140, label %121, label %124
141:                                              ; preds = %121, %146
  %142 = phi i64 [ %147, %146 ], [ %122, %121 ]
  %143 = getelementptr inbounds double, ptr %25, i64 %142
  %144 = load double, ptr %143, align 8
  %145 = fcmp oeq double %144, 0.000000e+00
  br i1 %145, label %146, label %149
146:                                              ; preds = %141
  %147 = add i64 %142, 1
  %148 = icmp eq i64 %147, %72
  br i1 %148, label %149, label %141
149:                                              ; preds = %146, %141, %121
  %150 = phi i64 [ %122, %121 ], [ %142, %141 ], [ %72, %146 ]
  %151 = icmp slt i64 %122, %150
  %152 = and i1 %70, %151
  br i1 %152, label %153, label %281
153:                                              ; preds = %149, %162
  %154 = phi i64 [ %164, %162 ], [ 0, %149 ]
  %155 = phi i64 [ %163, %162 ], [ %122, %149 ]
  %156 = getelementptr inbounds nuw double, ptr %26, i64 %154
  %157 = load double, ptr %156, align 8
  %158 = fcmp oeq double %157, 0.000000e+00
  br i1 %158, label %159, label %162
159:                                              ; preds = %153
  %160 = add nsw i64 %155, 1
  %161 = getelementptr inbounds double, ptr %25, i64 %155
  store double %157, ptr %161, align 8
  br label %162
162:                                              ; preds = %159, %153
  %163 = phi i64 [ %160, %159 ], [ %155, %153 ]
  %164 = add nuw nsw i64 %154, 1
  %165 = icmp slt i64 %163, %150
  %166 = icmp slt i64 %164, %4
  %167 = select i1 %165, i1 %166, i1 false
  br i1 %167, label %153, label %281
168:                                              ; preds = %51
  %169 = getelementptr i8, ptr %25, i64 -4
  br i1 %20, label %182, label %170
170:                                              ; preds = %168, %175
  %171 = phi i64 [ %176, %175 ], [ %4, %168 ]
  %172 = getelementptr float, ptr %169, i64 %171
  %173 = load float, ptr %172, align 4
  %174 = fcmp uno float %173, 0.000000e+00
  br i1 %174, label %175, label %178
175:                                              ; preds = %170
  %176 = add nsw i64 %171, -1
  %177 = icmp eq i64 %176, 0
  br i1 %177, label %178, label %170
178:                                              ; preds = %175, %170
  %179 = phi i64 [ 0, %175 ], [ %171, %170 ]
  %180 = icmp slt i64 %179, %4
  %181 = and i1 %21, %180
  br i1 %181, label %187, label %182
182:                                              ; preds = %196, %178, %168
  %183 = phi i1 [ %21, %178 ], [ false, %168 ], [ true, %196 ]
  %184 = phi i1 [ %174, %178 ], [ true, %168 ], [ %174, %196 ]
  %185 = phi i64 [ %179, %178 ], [ 0, %168 ], [ %179, %196 ]
  %186 = icmp eq i64 %54, 0
  br i1 %186, label %216, label %202
187:                                              ; preds = %178, %196
  %188 = phi i64 [ %197, %196 ], [ %179, %178 ]
  %189 = phi i64 [ %198, %196 ], [ 0, %178 ]
  %190 = getelementptr inbounds nuw float, ptr %26, i64 %189
  %191 = load float, ptr %190, align 4
  %192 = fcmp uno float %191, 0.000000e+00
  br i1 %192, label %193, label %196
193:                                              ; preds = %187
  %194 = add nsw i64 %188, 1
  %195 = getelementptr inbounds float, ptr %25, i64 %188
  store float %191, ptr %195, align 4
  br label %196
196:                                              ; preds = %193, %187
  %197 = phi i64 [ %194, %193 ], [ %188, %187 ]
  %198 = add nuw nsw i64 %189, 1
  %199 = icmp slt i64 %197, %4
  %200 = icmp slt i64 %198, %4
  %201 = select i1 %199, i1 %200, i1 false
  br i1 %201, label %187, label %182
202:                                              ; preds = %182
  %203 = shl i64 %185, 2
  %204 = add i64 %203, -4
  %205 = icmp sgt i64 %204, 0
  br i1 %205, label %206, label %216
206:                                              ; preds = %202
  %207 = getelementptr inbounds nuw i8, ptr %25, i64 %204
  br label %208
208:                                              ; preds = %208, %206
  %209 = phi ptr [ %207, %206 ], [ %214, %208 ]
  %210 = phi ptr [ %25, %206 ], [ %213, %208 ]
  %211 = load i32, ptr %210, align 1
  %212 = load i32, ptr %209, align 1
  store i32 %212, ptr %210, align 1
  store i32 %211, ptr %209, align 1
  %213 = getelementptr inbounds nuw i8, ptr %210, i64 4
  %214 = getelementptr inbounds i8, ptr %209, i64 -4
  %215 = icmp ult ptr %213, %214
  br i1 %215, label %208, label %216
216:                                              ; preds = %208, %202, %182
  br i1 %184, label %281, label %217
217:                                              ; preds = %216
  %218 = load float, ptr %25, align 4
  %219 = fcmp ogt float %218, 0.000000e+00
  br i1 %219, label %220, label %225
220:                                              ; preds = %217
  %221 = getelementptr float, ptr %25, i64 %185
  %222 = getelementptr i8, ptr %221, i64 -4
  %223 = load float, ptr %222, align 4
  %224 = fcmp ogt float %223, 0.000000e+00
  br i1 %224, label %281, label %225
225:                                              ; preds = %220, %217
  %226 = fcmp olt float %218, 0.000000e+00
  br i1 %226, label %227, label %232
227:                                              ; preds = %225
  %228 = getelementptr float, ptr %25, i64 %185
  %229 = getelementptr i8, ptr %228, i64 -4
  %230 = load float, ptr %229, align 4
  %231 = fcmp olt float %230, 0.000000e+00
  br i1 %231, label %281, label %232
232:                                              ; preds = %227, %225
  %233 = icmp eq i64 %185, 0
  br i1 %233, label %234, label %237
234:                                              ; preds = %237, %232
  %235 = phi i64 [ 0, %232 ], [ %249, %237 ]
  %236 = icmp slt i64 %235, %185
  br i1 %236, label %254, label %262
237:                                              ; preds = %232, %237
  %238 = phi i64 [ %249, %237 ], [ 0, %232 ]
  %239 = phi i64 [ %252, %237 ], [ %185, %232 ]
  %240 = sdiv i64 %239, 2
  %241 = getelementptr float, ptr %25, i64 %238
  %242 = getelementptr float, ptr %241, i64 %240
  %243 = load float, ptr %242, align 4
  %244 = fcmp ogt float %243, 0.000000e+00
  %245 = fcmp olt float %243, 0.000000e+00
  %246 = select i1 %186, i1 %245, i1 %244
  %247 = add nsw i64 %240, 1
  %248 = select i1 %246, i64 %247, i64 0
  %249 = add nsw i64 %248, %238
  %250 = xor i64 %240, -1
  %251 = add i64 %239, %250
  %252 = select i1 %246, i64 %251, i64 %240
  %253 = icmp eq i64 %252, 0
  br i1 %253, label %234, label %237
254:                                              ; preds = %234, %259
  %255 = phi i64 [ %260, %259 ], [ %235, %234 ]
  %256 = getelementptr inbounds float, ptr %25, i64 %255
  %257 = load float, ptr %256, align 4
  %258 = fcmp oeq float %257, 0.000000e+00
  br i1 %258, label %259, label %262
259:                                              ; preds = %254
  %260 = add i64 %255, 1
  %261 = icmp eq i64 %260, %185
  br i1 %261, label %262, label %254
262:                                              ; preds = %259, %254, %234
  %263 = phi i64 [ %235, %234 ], [ %255, %254 ], [ %185, %259 ]
  %264 = icmp slt i64 %235, %263
  %265 = and i1 %183, %264
  br i1 %265, label %266, label %281
266:                                              ; preds = %262, %275
  %267 = phi i64 [ %277, %275 ], [ 0, %262 ]
  %268 = phi i64 [ %276, %275 ], [ %235, %262 ]
  %269 = getelementptr inbounds nuw float, ptr %26, i64 %267
  %270 = load float, ptr %269, align 4
  %271 = fcmp oeq float %270, 0.000000e+00
  br i1 %271, label %272, label %275
272:                                              ; preds = %266
  %273 = add nsw i64 %268, 1
  %274 = getelementptr inbounds float, ptr %25, i64 %268
  store float %270, ptr %274, align 4
  br label %275
275:                                              ; preds = %272, %266
  %276 = phi i64 [ %273, %272 ], [ %268, %266 ]
  %277 = add nuw nsw i64 %267, 1
  %278 = icmp slt i64 %276, %263
  %279 = icmp slt i64 %277, %4
  %280 = select i1 %278, i1 %279, i1 false
  br i1 %280, label %266, label %281
281:                                              ; preds = %275, %162, %262, %227, %220, %216, %149, %114, %107, %103, %50, %34
  %282 = add nuw nsw i64 %24, 1
  %283 = getelementptr inbounds i8, ptr %26, i64 %7
  %284 = getelementptr inbounds i8, ptr %25, i64 %7
  %285 = load i64, ptr %0, align 8
  %286 = icmp slt i64 %282, %285
  br i1 %286, label %23, label %287
287:                                              ; preds = %281, %23, %1
  %288 = phi i64 [ 0, %1 ], [ 1, %23 ], [ 0, %281 ]
  ret i64 %288
}
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #4
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #5
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #5
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #7
declare ptr @llvm.stacksave.p0() #8
declare void @llvm.stackrestore.p0(ptr) #8
define internal fastcc range(i32 -1, 2) i32 @call_routine(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1, ptr nocapture noundef nonnull readonly %2, ptr nocapture noundef nonnull %3) unnamed_addr #2 {
  %5 = getelementptr inbounds nuw i8, ptr %1, i64 48
  %6 = load i64, ptr %5, align 8
  %7 = add nsw i64 %6, 1
  %8 = alloca ptr, i64 %7, align 16
  %9 = getelementptr inbounds nuw i8, ptr %2, i64 80
  %10 = load i64, ptr %9, align 8
  %11 = getelementptr inbounds i64, ptr %2, i64 %10
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %14 = icmp sgt i64 %6, 0
  br i1 %14, label %15, label %27
15:                                               ; preds = %4, %24
  %16 = phi i64 [ %25, %24 ], [ 0, %4 ]
  %17 = getelementptr inbounds nuw [0 x i64], ptr %13, i64 0, i64 %16
  %18 = load i64, ptr %17, align 8
  %19 = getelementptr inbounds %struct.value, ptr %3, i64 %18
  %20 = tail call fastcc ptr @shown(ptr noundef %0, ptr noundef %19) #14
  %21 = getelementptr inbounds nuw ptr, ptr %8, i64 %16
  store ptr %20, ptr %21, align 8
  %22 = icmp eq ptr %20, null
  %23 = load i64, ptr %5, align 8
  br i1 %22, label %27, label %24
24:                                               ; preds = %15
  %25 = add nuw nsw i64 %16, 1
  %26 = icmp slt i64 %25, %23
  br i1 %26, label %15, label %27
27:                                               ; preds = %15, %24, %4
  %28 = phi i64 [ %6, %4 ], [ %23, %24 ], [ %23, %15 ]
  %29 = phi i64 [ 0, %4 ], [ %16, %15 ], [ %25, %24 ]
  %30 = icmp eq i64 %29, %28
  br i1 %30, label %31, label %36
31:                                               ; preds = %27
  %32 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %33 = getelementptr inbounds nuw i8, ptr %2, i64 16
  %34 = load ptr, ptr %33, align 8
  %35 = call ptr %32(ptr noundef %34, ptr noundef nonnull %8, i64 noundef %28, ptr noundef null) #12
  br label %36
36:                                               ; preds = %31, %27
  %37 = phi ptr [ %35, %31 ], [ null, %27 ]
  %38 = icmp eq i64 %29, 0
  br i1 %38, label %46, label %39
39:                                               ; preds = %36, %39
  %40 = phi i64 [ %42, %39 ], [ %29, %36 ]
  %41 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  %42 = add nsw i64 %40, -1
  %43 = getelementptr inbounds ptr, ptr %8, i64 %42
  %44 = load ptr, ptr %43, align 8
  call void %41(ptr noundef %44) #12
  %45 = icmp eq i64 %42, 0
  br i1 %45, label %46, label %39
46:                                               ; preds = %39, %36
  %47 = icmp eq ptr %37, null
  br i1 %47, label %114, label %48
48:                                               ; preds = %46
  %49 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %50 = getelementptr inbounds i8, ptr %37, i64 %49
  %51 = load ptr, ptr %50, align 8
  %52 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %53 = load ptr, ptr %52, align 8
  %54 = icmp eq ptr %51, %53
  br i1 %54, label %55, label %97
55:                                               ; preds = %48
  %56 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 408), align 8
  %57 = getelementptr inbounds i8, ptr %37, i64 %56
  %58 = load i64, ptr %57, align 8
  %59 = load ptr, ptr %12, align 8
  %60 = ptrtoint ptr %59 to i64
  %61 = icmp eq i64 %58, %60
  br i1 %61, label %62, label %97
62:                                               ; preds = %55
  %63 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 376), align 8
  %64 = getelementptr inbounds i8, ptr %37, i64 %63
  %65 = load i32, ptr %64, align 4
  %66 = sext i32 %65 to i64
  %67 = getelementptr inbounds nuw i8, ptr %12, i64 16
  %68 = load i64, ptr %67, align 8
  %69 = icmp eq i64 %68, %66
  br i1 %69, label %70, label %97
70:                                               ; preds = %62
  %71 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 384), align 8
  %72 = getelementptr inbounds i8, ptr %37, i64 %71
  %73 = load ptr, ptr %72, align 8
  %74 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 392), align 8
  %75 = getelementptr inbounds i8, ptr %37, i64 %74
  %76 = load ptr, ptr %75, align 8
  %77 = icmp slt i32 %65, 1
  br i1 %77, label %99, label %78
78:                                               ; preds = %70
  %79 = getelementptr inbounds nuw i8, ptr %12, i64 48
  br label %83
80:                                               ; preds = %90
  %81 = add nuw nsw i64 %84, 1
  %82 = icmp eq i64 %81, %66
  br i1 %82, label %99, label %83
83:                                               ; preds = %80, %78
  %84 = phi i64 [ 0, %78 ], [ %81, %80 ]
  %85 = getelementptr inbounds nuw i64, ptr %73, i64 %84
  %86 = load i64, ptr %85, align 8
  %87 = getelementptr inbounds nuw [0 x i64], ptr %79, i64 0, i64 %84
  %88 = load i64, ptr %87, align 8
  %89 = icmp eq i64 %86, %88
  br i1 %89, label %90, label %97
90:                                               ; preds = %83
  %91 = getelementptr inbounds nuw i64, ptr %76, i64 %84
  %92 = load i64, ptr %91, align 8
  %93 = add nuw nsw i64 %84, %66
  %94 = getelementptr inbounds nuw [0 x i64], ptr %79, i64 0, i64 %93
  %95 = load i64, ptr %94, align 8
  %96 = icmp eq i64 %92, %95
  br i1 %96, label %80, label %97
97:                                               ; preds = %90, %83, %55, %62, %48
  %98 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %98(ptr noundef nonnull %37) #12
  br label %114
99:                                               ; preds = %80, %70
  %100 = load i64, ptr %5, align 8
  %101 = getelementptr inbounds [0 x i64], ptr %13, i64 0, i64 %100
  %102 = load i64, ptr %101, align 8
  %103 = getelementptr inbounds %struct.value, ptr %3, i64 %102
  %104 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %105 = getelementptr inbounds i8, ptr %37, i64 %104
  %106 = load i64, ptr %105, align 8
  %107 = getelementptr inbounds nuw i8, ptr %103, i64 16
  %108 = load ptr, ptr %107, align 8
  %109 = icmp eq ptr %108, null
  br i1 %109, label %112, label %110
110:                                              ; preds = %99
  %111 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %111(ptr noundef nonnull %108) #12
  br label %112
112:                                              ; preds = %99, %110
  store i64 %106, ptr %103, align 8
  %113 = getelementptr inbounds nuw i8, ptr %103, i64 8
  store ptr %12, ptr %113, align 8
  store ptr %37, ptr %107, align 8
  br label %114
114:                                              ; preds = %46, %112, %97
  %115 = phi i32 [ 1, %112 ], [ 0, %97 ], [ -1, %46 ]
  ret i32 %115
}
define internal fastcc range(i32 -1, 2) i32 @follow(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1, ptr noundef nonnull %2, ptr nocapture noundef nonnull %3, ptr nocapture noundef nonnull writeonly %4) unnamed_addr #2 {
  %6 = alloca [2 x ptr], align 16
  %7 = alloca [1 x ptr], align 8
  %8 = alloca i64, align 8
  %9 = getelementptr inbounds nuw i8, ptr %1, i64 48
  %10 = load i64, ptr %9, align 8
  %11 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %12 = load i64, ptr %11, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %8) #13
  %13 = add nsw i64 %12, %10
  %14 = getelementptr inbounds nuw i8, ptr %2, i64 64
  %15 = load i64, ptr %14, align 8
  %16 = add i64 %13, 1
  %17 = add i64 %16, %15
  %18 = tail call ptr @llvm.stacksave.p0()
  %19 = alloca i64, i64 %17, align 16
  %20 = load i64, ptr %14, align 8
  %21 = add i64 %12, 1
  %22 = add i64 %21, %20
  %23 = alloca ptr, i64 %22, align 16
  %24 = getelementptr inbounds nuw i8, ptr %2, i64 80
  %25 = load i64, ptr %24, align 8
  %26 = getelementptr inbounds i64, ptr %2, i64 %25
  %27 = getelementptr inbounds %struct.result, ptr %26, i64 %12
  %28 = icmp sgt i64 %10, 0
  br i1 %28, label %29, label %49
29:                                               ; preds = %5
  %30 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %31 = and i64 %10, 3
  %32 = icmp ult i64 %10, 4
  br i1 %32, label %35, label %33
33:                                               ; preds = %29
  %34 = and i64 %10, 9223372036854775804
  br label %61
35:                                               ; preds = %61, %29
  %36 = phi i64 [ 0, %29 ], [ %87, %61 ]
  %37 = icmp eq i64 %31, 0
  br i1 %37, label %49, label %38
38:                                               ; preds = %35, %38
  %39 = phi i64 [ %46, %38 ], [ %36, %35 ]
  %40 = phi i64 [ %47, %38 ], [ 0, %35 ]
  %41 = getelementptr inbounds nuw [0 x i64], ptr %30, i64 0, i64 %39
  %42 = load i64, ptr %41, align 8
  %43 = getelementptr inbounds %struct.value, ptr %3, i64 %42
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr inbounds nuw i64, ptr %19, i64 %39
  store i64 %44, ptr %45, align 8
  %46 = add nuw nsw i64 %39, 1
  %47 = add i64 %40, 1
  %48 = icmp eq i64 %47, %31
  br i1 %48, label %49, label %38
49:                                               ; preds = %35, %38, %5
  %50 = add nsw i64 %20, %12
  %51 = icmp sgt i64 %50, 0
  br i1 %51, label %52, label %280
52:                                               ; preds = %49
  %53 = getelementptr inbounds nuw i8, ptr %2, i64 40
  %54 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %55 = getelementptr inbounds nuw i8, ptr %2, i64 56
  %56 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %57 = getelementptr inbounds nuw i8, ptr %1, i64 40
  %58 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %59 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %60 = getelementptr i64, ptr %19, i64 %10
  br label %90
61:                                               ; preds = %61, %33
  %62 = phi i64 [ 0, %33 ], [ %87, %61 ]
  %63 = phi i64 [ 0, %33 ], [ %88, %61 ]
  %64 = getelementptr inbounds nuw [0 x i64], ptr %30, i64 0, i64 %62
  %65 = load i64, ptr %64, align 8
  %66 = getelementptr inbounds %struct.value, ptr %3, i64 %65
  %67 = load i64, ptr %66, align 8
  %68 = getelementptr inbounds nuw i64, ptr %19, i64 %62
  store i64 %67, ptr %68, align 16
  %69 = or disjoint i64 %62, 1
  %70 = getelementptr inbounds nuw [0 x i64], ptr %30, i64 0, i64 %69
  %71 = load i64, ptr %70, align 8
  %72 = getelementptr inbounds %struct.value, ptr %3, i64 %71
  %73 = load i64, ptr %72, align 8
  %74 = getelementptr inbounds nuw i64, ptr %19, i64 %69
  store i64 %73, ptr %74, align 8
  %75 = or disjoint i64 %62, 2
  %76 = getelementptr inbounds nuw [0 x i64], ptr %30, i64 0, i64 %75
  %77 = load i64, ptr %76, align 8
  %78 = getelementptr inbounds %struct.value, ptr %3, i64 %77
  %79 = load i64, ptr %78, align 8
  %80 = getelementptr inbounds nuw i64, ptr %19, i64 %75
  store i64 %79, ptr %80, align 16
  %81 = or disjoint i64 %62, 3
  %82 = getelementptr inbounds nuw [0 x i64], ptr %30, i64 0, i64 %81
  %83 = load i64, ptr %82, align 8
  %84 = getelementptr inbounds %struct.value, ptr %3, i64 %83
  %85 = load i64, ptr %84, align 8
  %86 = getelementptr inbounds nuw i64, ptr %19, i64 %81
  store i64 %85, ptr %86, align 8
  %87 = add nuw nsw i64 %62, 4
  %88 = add i64 %63, 4
  %89 = icmp eq i64 %88, %34
  br i1 %89, label %35, label %61
90:                                               ; preds = %52, %269
  %91 = phi i64 [ 0, %52 ], [ %272, %269 ]
  %92 = icmp slt i64 %91, %12
  br i1 %92, label %98, label %93
93:                                               ; preds = %90
  %94 = sub nsw i64 %91, %12
  %95 = getelementptr inbounds i64, ptr %27, i64 %94
  %96 = load i64, ptr %95, align 8
  %97 = inttoptr i64 %96 to ptr
  br label %122
98:                                               ; preds = %90
  %99 = load ptr, ptr %53, align 8
  %100 = icmp eq ptr %99, null
  br i1 %100, label %104, label %101
101:                                              ; preds = %98
  %102 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %103 = load ptr, ptr %54, align 8
  tail call void %102(ptr noundef %103) #12
  br label %269
104:                                              ; preds = %98
  %105 = getelementptr inbounds nuw %struct.result, ptr %26, i64 %91
  %106 = load ptr, ptr %105, align 8
  %107 = getelementptr inbounds nuw i8, ptr %105, i64 8
  %108 = load i64, ptr %107, align 8
  %109 = icmp sgt i64 %108, -1
  br i1 %109, label %110, label %122
110:                                              ; preds = %104
  %111 = getelementptr inbounds nuw i64, ptr %19, i64 %108
  %112 = load i64, ptr %111, align 8
  %113 = getelementptr inbounds nuw i8, ptr %105, i64 16
  %114 = load i64, ptr %113, align 8
  %115 = add nsw i64 %114, %112
  %116 = getelementptr i64, ptr %60, i64 %91
  store i64 %115, ptr %116, align 8
  %117 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %118 = getelementptr inbounds nuw [0 x i64], ptr %56, i64 0, i64 %108
  %119 = load i64, ptr %118, align 8
  %120 = getelementptr inbounds %struct.value, ptr %3, i64 %119, i32 2
  %121 = load ptr, ptr %120, align 8
  tail call void %117(ptr noundef %121) #12
  br label %269
122:                                              ; preds = %93, %104
  %123 = phi ptr [ %97, %93 ], [ %106, %104 ]
  %124 = icmp eq i64 %91, 0
  br i1 %124, label %125, label %209
125:                                              ; preds = %122
  %126 = load i64, ptr %55, align 8
  %127 = icmp eq i64 %126, 0
  br i1 %127, label %209, label %128
128:                                              ; preds = %125
  %129 = load i64, ptr %57, align 8
  %130 = getelementptr inbounds [0 x i64], ptr %56, i64 0, i64 %129
  %131 = load i64, ptr %130, align 8
  %132 = getelementptr inbounds %struct.value, ptr %3, i64 %131
  %133 = getelementptr inbounds nuw i8, ptr %132, i64 16
  %134 = load ptr, ptr %133, align 8
  %135 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %136 = getelementptr inbounds i8, ptr %134, i64 %135
  %137 = getelementptr inbounds i8, ptr %136, i64 -8
  %138 = load i32, ptr %137, align 4
  %139 = icmp eq i32 %138, 1
  br i1 %139, label %140, label %209
140:                                              ; preds = %128
  %141 = load ptr, ptr %136, align 8
  %142 = load ptr, ptr %58, align 8
  %143 = icmp eq ptr %141, %142
  br i1 %143, label %144, label %209
144:                                              ; preds = %140
  %145 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %146 = getelementptr inbounds i8, ptr %134, i64 %145
  %147 = load i64, ptr %146, align 8
  %148 = load i64, ptr %132, align 8
  %149 = icmp eq i64 %147, %148
  br i1 %149, label %150, label %209
150:                                              ; preds = %144
  %151 = getelementptr inbounds nuw i8, ptr %132, i64 8
  %152 = load ptr, ptr %151, align 8
  %153 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 408), align 8
  %154 = getelementptr inbounds i8, ptr %134, i64 %153
  %155 = load i64, ptr %154, align 8
  %156 = load ptr, ptr %152, align 8
  %157 = ptrtoint ptr %156 to i64
  %158 = icmp eq i64 %155, %157
  br i1 %158, label %159, label %209
159:                                              ; preds = %150
  %160 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 376), align 8
  %161 = getelementptr inbounds i8, ptr %134, i64 %160
  %162 = load i32, ptr %161, align 4
  %163 = sext i32 %162 to i64
  %164 = getelementptr inbounds nuw i8, ptr %152, i64 16
  %165 = load i64, ptr %164, align 8
  %166 = icmp eq i64 %165, %163
  br i1 %166, label %167, label %209
167:                                              ; preds = %159
  %168 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 384), align 8
  %169 = getelementptr inbounds i8, ptr %134, i64 %168
  %170 = load ptr, ptr %169, align 8
  %171 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 392), align 8
  %172 = getelementptr inbounds i8, ptr %134, i64 %171
  %173 = load ptr, ptr %172, align 8
  %174 = icmp slt i32 %162, 1
  br i1 %174, label %194, label %175
175:                                              ; preds = %167
  %176 = getelementptr inbounds nuw i8, ptr %152, i64 48
  br label %180
177:                                              ; preds = %187
  %178 = add nuw nsw i64 %181, 1
  %179 = icmp eq i64 %178, %163
  br i1 %179, label %194, label %180
180:                                              ; preds = %177, %175
  %181 = phi i64 [ 0, %175 ], [ %178, %177 ]
  %182 = getelementptr inbounds nuw i64, ptr %170, i64 %181
  %183 = load i64, ptr %182, align 8
  %184 = getelementptr inbounds nuw [0 x i64], ptr %176, i64 0, i64 %181
  %185 = load i64, ptr %184, align 8
  %186 = icmp eq i64 %183, %185
  br i1 %186, label %187, label %209
187:                                              ; preds = %180
  %188 = getelementptr inbounds nuw i64, ptr %173, i64 %181
  %189 = load i64, ptr %188, align 8
  %190 = add nuw nsw i64 %181, %163
  %191 = getelementptr inbounds nuw [0 x i64], ptr %176, i64 0, i64 %190
  %192 = load i64, ptr %191, align 8
  %193 = icmp eq i64 %189, %192
  br i1 %193, label %177, label %209
194:                                              ; preds = %177, %167
  %195 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 400), align 8
  %196 = getelementptr inbounds i8, ptr %134, i64 %195
  %197 = load ptr, ptr %196, align 8
  %198 = icmp eq ptr %197, null
  br i1 %198, label %204, label %199
199:                                              ; preds = %194
  %200 = getelementptr inbounds i8, ptr %197, i64 %135
  %201 = load ptr, ptr %200, align 8
  %202 = load ptr, ptr %59, align 8
  %203 = icmp eq ptr %201, %202
  br i1 %203, label %204, label %209
204:                                              ; preds = %194, %199
  %205 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  tail call void %205(ptr noundef nonnull %134) #12
  %206 = load i64, ptr %57, align 8
  %207 = getelementptr inbounds i64, ptr %19, i64 %206
  %208 = load i64, ptr %207, align 8
  store i64 %208, ptr %60, align 8
  br label %269
209:                                              ; preds = %180, %187, %150, %159, %140, %144, %128, %199, %125, %122
  %210 = getelementptr i64, ptr %60, i64 %91
  %211 = getelementptr inbounds nuw i8, ptr %123, i64 32
  %212 = load i64, ptr %211, align 8
  %213 = getelementptr inbounds nuw i8, ptr %123, i64 24
  %214 = load i64, ptr %213, align 8
  %215 = mul nsw i64 %214, %212
  %216 = icmp slt i64 %215, 513
  br i1 %216, label %250, label %217
217:                                              ; preds = %209
  %218 = getelementptr inbounds nuw i8, ptr %123, i64 8
  %219 = load ptr, ptr %218, align 8
  %220 = icmp eq ptr %219, null
  br i1 %220, label %224, label %221
221:                                              ; preds = %217
  %222 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %223 = tail call ptr %222(ptr noundef nonnull %219, ptr noundef null, i64 noundef 0, ptr noundef null) #12
  br label %247
224:                                              ; preds = %217
  %225 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %226 = load ptr, ptr %123, align 8
  tail call void %225(ptr noundef %226) #12
  %227 = getelementptr inbounds nuw i8, ptr %123, i64 40
  %228 = load i64, ptr %227, align 8
  %229 = icmp eq i64 %228, 0
  br i1 %229, label %233, label %230
230:                                              ; preds = %224
  %231 = getelementptr inbounds nuw i8, ptr %123, i64 16
  %232 = load i64, ptr %231, align 8
  br label %238
233:                                              ; preds = %224
  %234 = getelementptr inbounds nuw i8, ptr %123, i64 48
  %235 = getelementptr inbounds nuw i8, ptr %123, i64 16
  %236 = load i64, ptr %235, align 8
  %237 = getelementptr inbounds i64, ptr %234, i64 %236
  br label %238
238:                                              ; preds = %233, %230
  %239 = phi i64 [ %236, %233 ], [ %232, %230 ]
  %240 = phi ptr [ %237, %233 ], [ null, %230 ]
  %241 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 328), align 8
  %242 = load ptr, ptr %58, align 8
  %243 = load ptr, ptr %123, align 8
  %244 = trunc i64 %239 to i32
  %245 = getelementptr inbounds nuw i8, ptr %123, i64 48
  %246 = tail call ptr %241(ptr noundef %242, ptr noundef %243, i32 noundef %244, ptr noundef nonnull %245, ptr noundef %240, ptr noundef null, i32 noundef 0, ptr noundef null) #12
  br label %247
247:                                              ; preds = %238, %221
  %248 = phi ptr [ %246, %238 ], [ %223, %221 ]
  %249 = icmp eq ptr %248, null
  br i1 %249, label %276, label %259
250:                                              ; preds = %209
  %251 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 288), align 8
  %252 = add nsw i64 %215, 1
  %253 = tail call ptr %251(ptr noundef null, i64 noundef %252) #12
  %254 = icmp eq ptr %253, null
  br i1 %254, label %276, label %255
255:                                              ; preds = %250
  %256 = ptrtoint ptr %253 to i64
  %257 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 360), align 8
  %258 = add nsw i64 %257, %256
  br label %263
259:                                              ; preds = %247
  %260 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %261 = getelementptr inbounds i8, ptr %248, i64 %260
  %262 = load i64, ptr %261, align 8
  br label %263
263:                                              ; preds = %259, %255
  %264 = phi ptr [ %253, %255 ], [ %248, %259 ]
  %265 = phi i64 [ %258, %255 ], [ %262, %259 ]
  store i64 %265, ptr %210, align 8
  br i1 %92, label %269, label %266
266:                                              ; preds = %263
  %267 = add nsw i64 %265, 63
  %268 = and i64 %267, -64
  store i64 %268, ptr %210, align 8
  br label %269
269:                                              ; preds = %101, %204, %266, %263, %110
  %270 = phi ptr [ %103, %101 ], [ %121, %110 ], [ %264, %266 ], [ %264, %263 ], [ %134, %204 ]
  %271 = getelementptr inbounds nuw ptr, ptr %23, i64 %91
  store ptr %270, ptr %271, align 8
  %272 = add nuw nsw i64 %91, 1
  %273 = load i64, ptr %14, align 8
  %274 = add nsw i64 %273, %12
  %275 = icmp slt i64 %272, %274
  br i1 %275, label %90, label %276
276:                                              ; preds = %247, %250, %269
  %277 = phi i64 [ %272, %269 ], [ %91, %250 ], [ %91, %247 ]
  %278 = load i64, ptr %14, align 8
  %279 = add nsw i64 %278, %12
  br label %280
280:                                              ; preds = %276, %49
  %281 = phi i64 [ %279, %276 ], [ %50, %49 ]
  %282 = phi i64 [ %278, %276 ], [ %20, %49 ]
  %283 = phi i64 [ %277, %276 ], [ 0, %49 ]
  %284 = icmp eq i64 %283, %281
  br i1 %284, label %285, label %432
285:                                              ; preds = %280
  %286 = getelementptr inbounds nuw i8, ptr %2, i64 24
  %287 = load ptr, ptr %286, align 8
  %288 = icmp eq ptr %287, null
  br i1 %288, label %294, label %289
289:                                              ; preds = %285
  %290 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %291 = tail call ptr %290(ptr noundef nonnull %287, ptr noundef null, i64 noundef 0, ptr noundef null) #12
  %292 = icmp eq ptr %291, null
  %293 = load i64, ptr %14, align 8
  br i1 %292, label %432, label %294
294:                                              ; preds = %285, %289
  %295 = phi i64 [ %293, %289 ], [ %282, %285 ]
  %296 = phi ptr [ %291, %289 ], [ null, %285 ]
  %297 = getelementptr inbounds i64, ptr %27, i64 %295
  %298 = getelementptr inbounds nuw i8, ptr %2, i64 40
  %299 = load ptr, ptr %298, align 8
  %300 = icmp eq ptr %299, null
  br i1 %300, label %307, label %301
301:                                              ; preds = %294
  %302 = getelementptr i64, ptr %19, i64 %10
  %303 = getelementptr i64, ptr %302, i64 %283
  %304 = getelementptr i8, ptr %303, i64 -8
  %305 = load i64, ptr %304, align 8
  %306 = inttoptr i64 %305 to ptr
  br label %307
307:                                              ; preds = %294, %301
  %308 = phi ptr [ %306, %301 ], [ null, %294 ]
  %309 = getelementptr inbounds nuw i8, ptr %2, i64 72
  %310 = icmp eq ptr %308, null
  %311 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %312 = getelementptr inbounds nuw i8, ptr %1, i64 64
  %313 = getelementptr i64, ptr %19, i64 %10
  %314 = getelementptr i64, ptr %313, i64 %283
  %315 = getelementptr inbounds nuw i8, ptr %2, i64 40
  %316 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %317 = load i64, ptr %309, align 8
  %318 = icmp sgt i64 %317, 0
  br i1 %318, label %319, label %432
319:                                              ; preds = %307, %422
  %320 = phi ptr [ %423, %422 ], [ null, %307 ]
  %321 = phi ptr [ %427, %422 ], [ %297, %307 ]
  %322 = phi i64 [ %424, %422 ], [ 0, %307 ]
  %323 = getelementptr inbounds nuw i8, ptr %321, i64 8
  %324 = call i64 @launch(ptr noundef nonnull %323, ptr noundef nonnull %19, ptr noundef nonnull %8) #14
  %325 = icmp ne i64 %322, 0
  %326 = or i1 %310, %325
  %327 = icmp ne i64 %324, 0
  %328 = select i1 %326, i1 true, i1 %327
  br i1 %328, label %422, label %329
329:                                              ; preds = %319
  %330 = load i64, ptr %308, align 8
  %331 = load i64, ptr %312, align 8
  %332 = add nsw i64 %331, %13
  %333 = getelementptr inbounds [0 x i64], ptr %311, i64 0, i64 %332
  %334 = load i64, ptr %333, align 8
  %335 = getelementptr inbounds i64, ptr %4, i64 %334
  store i64 %330, ptr %335, align 8
  store i64 %330, ptr %314, align 8
  %336 = load ptr, ptr %315, align 8
  %337 = getelementptr inbounds nuw i8, ptr %336, i64 8
  %338 = getelementptr inbounds [0 x i64], ptr %337, i64 0, i64 %330
  %339 = load i64, ptr %338, align 8
  %340 = icmp eq i64 %339, 0
  br i1 %340, label %341, label %362
341:                                              ; preds = %329
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %7) #13
  %342 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 280), align 8
  %343 = call ptr %342(i64 noundef %330) #12
  store ptr %343, ptr %7, align 8
  %344 = icmp eq ptr %343, null
  br i1 %344, label %355, label %345
345:                                              ; preds = %341
  %346 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %347 = load ptr, ptr %336, align 8
  %348 = call ptr %346(ptr noundef %347, ptr noundef nonnull %7, i64 noundef 1, ptr noundef null) #12
  %349 = load ptr, ptr %7, align 8
  %350 = icmp eq ptr %349, null
  br i1 %350, label %353, label %351
351:                                              ; preds = %345
  %352 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %352(ptr noundef nonnull %349) #12
  br label %353
353:                                              ; preds = %351, %345
  %354 = icmp eq ptr %348, null
  br i1 %354, label %355, label %356
355:                                              ; preds = %341, %353
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #13
  br label %432
356:                                              ; preds = %353
  %357 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 184), align 8
  %358 = call i64 %357(ptr noundef nonnull %348) #12
  store i64 %358, ptr %338, align 8
  %359 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %359(ptr noundef nonnull %348) #12
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %7) #13
  %360 = load i64, ptr %338, align 8
  %361 = icmp eq i64 %360, 0
  br i1 %361, label %432, label %362
362:                                              ; preds = %329, %356
  %363 = phi i64 [ %360, %356 ], [ %339, %329 ]
  %364 = inttoptr i64 %363 to ptr
  %365 = getelementptr inbounds nuw i8, ptr %364, i64 32
  %366 = load i64, ptr %365, align 8
  %367 = getelementptr inbounds nuw i8, ptr %364, i64 24
  %368 = load i64, ptr %367, align 8
  %369 = mul nsw i64 %368, %366
  %370 = icmp slt i64 %369, 513
  br i1 %370, label %404, label %371
371:                                              ; preds = %362
  %372 = getelementptr inbounds nuw i8, ptr %364, i64 8
  %373 = load ptr, ptr %372, align 8
  %374 = icmp eq ptr %373, null
  br i1 %374, label %378, label %375
375:                                              ; preds = %371
  %376 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %377 = call ptr %376(ptr noundef nonnull %373, ptr noundef null, i64 noundef 0, ptr noundef null) #12
  br label %401
378:                                              ; preds = %371
  %379 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %380 = load ptr, ptr %364, align 8
  call void %379(ptr noundef %380) #12
  %381 = getelementptr inbounds nuw i8, ptr %364, i64 40
  %382 = load i64, ptr %381, align 8
  %383 = icmp eq i64 %382, 0
  br i1 %383, label %387, label %384
384:                                              ; preds = %378
  %385 = getelementptr inbounds nuw i8, ptr %364, i64 16
  %386 = load i64, ptr %385, align 8
  br label %392
387:                                              ; preds = %378
  %388 = getelementptr inbounds nuw i8, ptr %364, i64 48
  %389 = getelementptr inbounds nuw i8, ptr %364, i64 16
  %390 = load i64, ptr %389, align 8
  %391 = getelementptr inbounds i64, ptr %388, i64 %390
  br label %392
392:                                              ; preds = %387, %384
  %393 = phi i64 [ %390, %387 ], [ %386, %384 ]
  %394 = phi ptr [ %391, %387 ], [ null, %384 ]
  %395 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 328), align 8
  %396 = load ptr, ptr %316, align 8
  %397 = load ptr, ptr %364, align 8
  %398 = trunc i64 %393 to i32
  %399 = getelementptr inbounds nuw i8, ptr %364, i64 48
  %400 = call ptr %395(ptr noundef %396, ptr noundef %397, i32 noundef %398, ptr noundef nonnull %399, ptr noundef %394, ptr noundef null, i32 noundef 0, ptr noundef null) #12
  br label %401
401:                                              ; preds = %392, %375
  %402 = phi ptr [ %400, %392 ], [ %377, %375 ]
  %403 = icmp eq ptr %402, null
  br i1 %403, label %432, label %413
404:                                              ; preds = %362
  %405 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 288), align 8
  %406 = add nsw i64 %369, 1
  %407 = call ptr %405(ptr noundef null, i64 noundef %406) #12
  %408 = icmp eq ptr %407, null
  br i1 %408, label %432, label %409
409:                                              ; preds = %404
  %410 = ptrtoint ptr %407 to i64
  %411 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 360), align 8
  %412 = add nsw i64 %411, %410
  br label %417
413:                                              ; preds = %401
  %414 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %415 = getelementptr inbounds i8, ptr %402, i64 %414
  %416 = load i64, ptr %415, align 8
  br label %417
417:                                              ; preds = %413, %409
  %418 = phi ptr [ %407, %409 ], [ %402, %413 ]
  %419 = phi i64 [ %412, %409 ], [ %416, %413 ]
  store i64 %419, ptr %313, align 8
  %420 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  %421 = load ptr, ptr %23, align 16
  call void %420(ptr noundef %421) #12
  store ptr %418, ptr %23, align 16
  br label %422
422:                                              ; preds = %417, %319
  %423 = phi ptr [ %320, %319 ], [ %364, %417 ]
  %424 = add nuw nsw i64 %322, 1
  %425 = load i64, ptr %321, align 8
  %426 = getelementptr i64, ptr %321, i64 %425
  %427 = getelementptr i8, ptr %426, i64 8
  %428 = load i64, ptr %309, align 8
  %429 = icmp slt i64 %424, %428
  %430 = icmp eq i64 %324, 0
  %431 = select i1 %429, i1 %430, i1 false
  br i1 %431, label %319, label %432
432:                                              ; preds = %401, %404, %356, %422, %289, %280, %307, %355
  %433 = phi ptr [ %296, %355 ], [ null, %289 ], [ null, %280 ], [ %296, %307 ], [ %296, %422 ], [ %296, %356 ], [ %296, %404 ], [ %296, %401 ]
  %434 = phi ptr [ null, %355 ], [ null, %289 ], [ null, %280 ], [ null, %307 ], [ %364, %401 ], [ %364, %404 ], [ null, %356 ], [ %423, %422 ]
  %435 = phi i64 [ 0, %355 ], [ 0, %289 ], [ 0, %280 ], [ 0, %307 ], [ 0, %401 ], [ 0, %404 ], [ 0, %356 ], [ %324, %422 ]
  %436 = phi i1 [ false, %355 ], [ false, %289 ], [ false, %280 ], [ true, %307 ], [ false, %401 ], [ false, %404 ], [ false, %356 ], [ true, %422 ]
  %437 = icmp eq ptr %433, null
  br i1 %437, label %440, label %438
438:                                              ; preds = %432
  %439 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %439(ptr noundef nonnull %433) #12
  br label %440
440:                                              ; preds = %438, %432
  %441 = icmp eq i64 %435, 0
  %442 = select i1 %436, i1 %441, i1 false
  %443 = select i1 %442, i64 %12, i64 0
  %444 = icmp sgt i64 %283, %443
  br i1 %444, label %445, label %452
445:                                              ; preds = %440, %445
  %446 = phi i64 [ %448, %445 ], [ %283, %440 ]
  %447 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  %448 = add nsw i64 %446, -1
  %449 = getelementptr inbounds ptr, ptr %23, i64 %448
  %450 = load ptr, ptr %449, align 8
  call void %447(ptr noundef %450) #12
  %451 = icmp sgt i64 %448, %443
  br i1 %451, label %445, label %452
452:                                              ; preds = %445, %440
  br i1 %436, label %453, label %523
453:                                              ; preds = %452
  br i1 %441, label %454, label %459
454:                                              ; preds = %453
  %455 = icmp sgt i64 %12, 0
  br i1 %455, label %456, label %523
456:                                              ; preds = %454
  %457 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %458 = icmp eq ptr %434, null
  br label %499
459:                                              ; preds = %453
  %460 = load i64, ptr %8, align 8
  switch i64 %435, label %464 [
    i64 -2, label %523
    i64 -1, label %461
  ]
461:                                              ; preds = %459
  %462 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 224), align 8
  %463 = call ptr %462() #12
  br label %523
464:                                              ; preds = %459
  %465 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %466 = load ptr, ptr %465, align 8
  %467 = icmp eq ptr %466, null
  br i1 %467, label %523, label %468
468:                                              ; preds = %464
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %6) #13
  %469 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 280), align 8
  %470 = call ptr %469(i64 noundef range(i64 1, 0) %435) #12
  store ptr %470, ptr %6, align 16
  %471 = getelementptr inbounds nuw i8, ptr %6, i64 8
  %472 = icmp eq ptr %470, null
  br i1 %472, label %497, label %473
473:                                              ; preds = %468
  %474 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 280), align 8
  %475 = call ptr %474(i64 noundef %460) #12
  store ptr %475, ptr %471, align 8
  %476 = icmp eq ptr %475, null
  br i1 %476, label %483, label %477
477:                                              ; preds = %473
  %478 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %479 = load ptr, ptr %465, align 8
  %480 = call ptr %478(ptr noundef %479, ptr noundef nonnull %6, i64 noundef 2, ptr noundef null) #12
  %481 = load ptr, ptr %6, align 16
  %482 = icmp eq ptr %481, null
  br i1 %482, label %487, label %483
483:                                              ; preds = %477, %473
  %484 = phi ptr [ %480, %477 ], [ null, %473 ]
  %485 = phi ptr [ %481, %477 ], [ %470, %473 ]
  %486 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %486(ptr noundef nonnull %485) #12
  br label %487
487:                                              ; preds = %483, %477
  %488 = phi ptr [ %484, %483 ], [ %480, %477 ]
  %489 = load ptr, ptr %471, align 8
  %490 = icmp eq ptr %489, null
  br i1 %490, label %493, label %491
491:                                              ; preds = %487
  %492 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %492(ptr noundef nonnull %489) #12
  br label %493
493:                                              ; preds = %491, %487
  %494 = icmp eq ptr %488, null
  br i1 %494, label %497, label %495
495:                                              ; preds = %493
  %496 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %496(ptr noundef nonnull %488) #12
  br label %497
497:                                              ; preds = %495, %493, %468
  %498 = phi i32 [ 0, %495 ], [ -1, %493 ], [ -1, %468 ]
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %6) #13
  br label %523
499:                                              ; preds = %456, %519
  %500 = phi i64 [ 0, %456 ], [ %521, %519 ]
  %501 = add nsw i64 %500, %10
  %502 = getelementptr inbounds [0 x i64], ptr %457, i64 0, i64 %501
  %503 = load i64, ptr %502, align 8
  %504 = getelementptr inbounds %struct.value, ptr %3, i64 %503
  %505 = getelementptr inbounds i64, ptr %19, i64 %501
  %506 = load i64, ptr %505, align 8
  br i1 %458, label %507, label %510
507:                                              ; preds = %499
  %508 = getelementptr inbounds nuw %struct.result, ptr %26, i64 %500
  %509 = load ptr, ptr %508, align 8
  br label %510
510:                                              ; preds = %499, %507
  %511 = phi ptr [ %509, %507 ], [ %434, %499 ]
  %512 = getelementptr inbounds nuw ptr, ptr %23, i64 %500
  %513 = load ptr, ptr %512, align 8
  %514 = getelementptr inbounds nuw i8, ptr %504, i64 16
  %515 = load ptr, ptr %514, align 8
  %516 = icmp eq ptr %515, null
  br i1 %516, label %519, label %517
517:                                              ; preds = %510
  %518 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %518(ptr noundef nonnull %515) #12
  br label %519
519:                                              ; preds = %510, %517
  store i64 %506, ptr %504, align 8
  %520 = getelementptr inbounds nuw i8, ptr %504, i64 8
  store ptr %511, ptr %520, align 8
  store ptr %513, ptr %514, align 8
  %521 = add nuw nsw i64 %500, 1
  %522 = icmp eq i64 %521, %12
  br i1 %522, label %523, label %499
523:                                              ; preds = %519, %454, %497, %464, %461, %459, %452
  %524 = phi i32 [ -1, %452 ], [ -1, %461 ], [ %498, %497 ], [ -1, %459 ], [ 0, %464 ], [ 1, %454 ], [ 1, %519 ]
  call void @llvm.stackrestore.p0(ptr %18)
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %8) #13
  ret i32 %524
}
define internal fastcc range(i32 -1, 3) i32 @asked(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1, ptr nocapture noundef nonnull %2, ptr nocapture noundef nonnull %3) unnamed_addr #2 {
  %5 = getelementptr inbounds nuw i8, ptr %1, i64 48
  %6 = load i64, ptr %5, align 8
  %7 = getelementptr inbounds nuw i8, ptr %1, i64 64
  %8 = load i64, ptr %7, align 8
  %9 = add nsw i64 %8, %6
  %10 = add nsw i64 %9, 1
  %11 = alloca ptr, i64 %10, align 16
  %12 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %13 = load ptr, ptr %12, align 8
  %14 = icmp eq ptr %13, null
  br i1 %14, label %227, label %15
15:                                               ; preds = %4
  %16 = getelementptr inbounds nuw i8, ptr %1, i64 40
  %17 = load i64, ptr %16, align 8
  %18 = icmp sgt i64 %17, -1
  br i1 %18, label %19, label %98
19:                                               ; preds = %15
  %20 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %21 = getelementptr inbounds nuw [0 x i64], ptr %20, i64 0, i64 %17
  %22 = load i64, ptr %21, align 8
  %23 = getelementptr inbounds %struct.value, ptr %2, i64 %22
  %24 = getelementptr inbounds nuw i8, ptr %23, i64 16
  %25 = load ptr, ptr %24, align 8
  %26 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %27 = getelementptr inbounds i8, ptr %25, i64 %26
  %28 = getelementptr inbounds i8, ptr %27, i64 -8
  %29 = load i32, ptr %28, align 4
  %30 = icmp eq i32 %29, 1
  br i1 %30, label %31, label %98
31:                                               ; preds = %19
  %32 = load ptr, ptr %27, align 8
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %34 = load ptr, ptr %33, align 8
  %35 = icmp eq ptr %32, %34
  br i1 %35, label %36, label %98
36:                                               ; preds = %31
  %37 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %38 = getelementptr inbounds i8, ptr %25, i64 %37
  %39 = load i64, ptr %38, align 8
  %40 = load i64, ptr %23, align 8
  %41 = icmp eq i64 %39, %40
  br i1 %41, label %42, label %98
42:                                               ; preds = %36
  %43 = getelementptr inbounds nuw i8, ptr %23, i64 8
  %44 = load ptr, ptr %43, align 8
  %45 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 408), align 8
  %46 = getelementptr inbounds i8, ptr %25, i64 %45
  %47 = load i64, ptr %46, align 8
  %48 = load ptr, ptr %44, align 8
  %49 = ptrtoint ptr %48 to i64
  %50 = icmp eq i64 %47, %49
  br i1 %50, label %51, label %98
51:                                               ; preds = %42
  %52 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 376), align 8
  %53 = getelementptr inbounds i8, ptr %25, i64 %52
  %54 = load i32, ptr %53, align 4
  %55 = sext i32 %54 to i64
  %56 = getelementptr inbounds nuw i8, ptr %44, i64 16
  %57 = load i64, ptr %56, align 8
  %58 = icmp eq i64 %57, %55
  br i1 %58, label %59, label %98
59:                                               ; preds = %51
  %60 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 384), align 8
  %61 = getelementptr inbounds i8, ptr %25, i64 %60
  %62 = load ptr, ptr %61, align 8
  %63 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 392), align 8
  %64 = getelementptr inbounds i8, ptr %25, i64 %63
  %65 = load ptr, ptr %64, align 8
  %66 = icmp slt i32 %54, 1
  br i1 %66, label %86, label %67
67:                                               ; preds = %59
  %68 = getelementptr inbounds nuw i8, ptr %44, i64 48
  br label %72
69:                                               ; preds = %79
  %70 = add nuw nsw i64 %73, 1
  %71 = icmp eq i64 %70, %55
  br i1 %71, label %86, label %72
72:                                               ; preds = %69, %67
  %73 = phi i64 [ 0, %67 ], [ %70, %69 ]
  %74 = getelementptr inbounds nuw i64, ptr %62, i64 %73
  %75 = load i64, ptr %74, align 8
  %76 = getelementptr inbounds nuw [0 x i64], ptr %68, i64 0, i64 %73
  %77 = load i64, ptr %76, align 8
  %78 = icmp eq i64 %75, %77
  br i1 %78, label %79, label %98
79:                                               ; preds = %72
  %80 = getelementptr inbounds nuw i64, ptr %65, i64 %73
  %81 = load i64, ptr %80, align 8
  %82 = add nuw nsw i64 %73, %55
  %83 = getelementptr inbounds nuw [0 x i64], ptr %68, i64 0, i64 %82
  %84 = load i64, ptr %83, align 8
  %85 = icmp eq i64 %81, %84
  br i1 %85, label %69, label %98
86:                                               ; preds = %69, %59
  %87 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 400), align 8
  %88 = getelementptr inbounds i8, ptr %25, i64 %87
  %89 = load ptr, ptr %88, align 8
  %90 = icmp eq ptr %89, null
  br i1 %90, label %98, label %91
91:                                               ; preds = %86
  %92 = getelementptr inbounds i8, ptr %89, i64 %26
  %93 = load ptr, ptr %92, align 8
  %94 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %95 = load ptr, ptr %94, align 8
  %96 = icmp eq ptr %93, %95
  %97 = zext i1 %96 to i64
  br label %98
98:                                               ; preds = %79, %72, %91, %86, %51, %42, %36, %31, %19, %15
  %99 = phi i64 [ 0, %15 ], [ 0, %19 ], [ 1, %86 ], [ %97, %91 ], [ 0, %36 ], [ 0, %31 ], [ 0, %51 ], [ 0, %42 ], [ 0, %72 ], [ 0, %79 ]
  %100 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %101 = icmp sgt i64 %6, 0
  br i1 %101, label %102, label %113
102:                                              ; preds = %98, %110
  %103 = phi i64 [ %111, %110 ], [ 0, %98 ]
  %104 = getelementptr inbounds nuw [0 x i64], ptr %100, i64 0, i64 %103
  %105 = load i64, ptr %104, align 8
  %106 = getelementptr inbounds %struct.value, ptr %2, i64 %105
  %107 = tail call fastcc ptr @shown(ptr noundef %0, ptr noundef %106) #14
  %108 = getelementptr inbounds nuw ptr, ptr %11, i64 %103
  store ptr %107, ptr %108, align 8
  %109 = icmp eq ptr %107, null
  br i1 %109, label %113, label %110
110:                                              ; preds = %102
  %111 = add nuw nsw i64 %103, 1
  %112 = icmp eq i64 %111, %6
  br i1 %112, label %113, label %102
113:                                              ; preds = %102, %110, %98
  %114 = phi i64 [ 0, %98 ], [ %6, %110 ], [ %103, %102 ]
  %115 = icmp sge i64 %114, %6
  %116 = icmp slt i64 %114, %9
  %117 = select i1 %115, i1 %116, i1 false
  br i1 %117, label %118, label %137
118:                                              ; preds = %113
  %119 = getelementptr inbounds nuw i8, ptr %1, i64 56
  br label %120
120:                                              ; preds = %118, %132
  %121 = phi i64 [ %114, %118 ], [ %133, %132 ]
  %122 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 280), align 8
  %123 = load i64, ptr %119, align 8
  %124 = add nsw i64 %123, %121
  %125 = getelementptr inbounds [0 x i64], ptr %100, i64 0, i64 %124
  %126 = load i64, ptr %125, align 8
  %127 = getelementptr inbounds i64, ptr %3, i64 %126
  %128 = load i64, ptr %127, align 8
  %129 = tail call ptr %122(i64 noundef %128) #12
  %130 = getelementptr inbounds nuw ptr, ptr %11, i64 %121
  store ptr %129, ptr %130, align 8
  %131 = icmp eq ptr %129, null
  br i1 %131, label %137, label %132
132:                                              ; preds = %120
  %133 = add nuw nsw i64 %121, 1
  %134 = icmp sge i64 %133, %6
  %135 = icmp slt i64 %133, %9
  %136 = select i1 %134, i1 %135, i1 false
  br i1 %136, label %120, label %137
137:                                              ; preds = %120, %132, %113
  %138 = phi i64 [ %114, %113 ], [ %133, %132 ], [ %121, %120 ]
  %139 = icmp eq i64 %138, %9
  br i1 %139, label %140, label %149
140:                                              ; preds = %137
  %141 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 280), align 8
  %142 = tail call ptr %141(i64 noundef %99) #12
  %143 = getelementptr inbounds nuw ptr, ptr %11, i64 %9
  store ptr %142, ptr %143, align 8
  %144 = icmp eq ptr %142, null
  br i1 %144, label %149, label %145
145:                                              ; preds = %140
  %146 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %147 = load ptr, ptr %12, align 8
  %148 = call ptr %146(ptr noundef %147, ptr noundef nonnull %11, i64 noundef %10, ptr noundef null) #12
  br label %149
149:                                              ; preds = %145, %140, %137
  %150 = phi ptr [ %148, %145 ], [ null, %140 ], [ null, %137 ]
  %151 = phi i64 [ %10, %145 ], [ %9, %140 ], [ %138, %137 ]
  %152 = icmp eq i64 %151, 0
  br i1 %152, label %160, label %153
153:                                              ; preds = %149, %153
  %154 = phi i64 [ %156, %153 ], [ %151, %149 ]
  %155 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  %156 = add nsw i64 %154, -1
  %157 = getelementptr inbounds ptr, ptr %11, i64 %156
  %158 = load ptr, ptr %157, align 8
  call void %155(ptr noundef %158) #12
  %159 = icmp eq i64 %156, 0
  br i1 %159, label %160, label %153
160:                                              ; preds = %153, %149
  %161 = icmp eq ptr %150, null
  br i1 %161, label %227, label %162
162:                                              ; preds = %160
  %163 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %164 = load ptr, ptr %163, align 8
  %165 = icmp eq ptr %150, %164
  br i1 %165, label %224, label %166
166:                                              ; preds = %162
  %167 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 352), align 8
  %168 = getelementptr inbounds i8, ptr %150, i64 %167
  %169 = getelementptr inbounds i64, ptr %100, i64 %6
  %170 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %171 = load i64, ptr %170, align 8
  %172 = icmp sgt i64 %171, 0
  br i1 %172, label %177, label %173
173:                                              ; preds = %200, %166
  %174 = getelementptr inbounds nuw i8, ptr %1, i64 72
  %175 = load i64, ptr %174, align 8
  %176 = icmp sgt i64 %175, 0
  br i1 %176, label %205, label %224
177:                                              ; preds = %166, %200
  %178 = phi i64 [ %202, %200 ], [ 0, %166 ]
  %179 = shl nuw nsw i64 %178, 1
  %180 = getelementptr inbounds nuw ptr, ptr %168, i64 %179
  %181 = load ptr, ptr %180, align 8
  %182 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  call void %182(ptr noundef %181) #12
  %183 = getelementptr inbounds nuw i64, ptr %169, i64 %178
  %184 = load i64, ptr %183, align 8
  %185 = getelementptr inbounds %struct.value, ptr %2, i64 %184
  %186 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %187 = getelementptr inbounds i8, ptr %181, i64 %186
  %188 = load i64, ptr %187, align 8
  %189 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 184), align 8
  %190 = or disjoint i64 %179, 1
  %191 = getelementptr inbounds nuw ptr, ptr %168, i64 %190
  %192 = load ptr, ptr %191, align 8
  %193 = call i64 %189(ptr noundef %192) #12
  %194 = inttoptr i64 %193 to ptr
  %195 = getelementptr inbounds nuw i8, ptr %185, i64 16
  %196 = load ptr, ptr %195, align 8
  %197 = icmp eq ptr %196, null
  br i1 %197, label %200, label %198
198:                                              ; preds = %177
  %199 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %199(ptr noundef nonnull %196) #12
  br label %200
200:                                              ; preds = %177, %198
  store i64 %188, ptr %185, align 8
  %201 = getelementptr inbounds nuw i8, ptr %185, i64 8
  store ptr %194, ptr %201, align 8
  store ptr %181, ptr %195, align 8
  %202 = add nuw nsw i64 %178, 1
  %203 = load i64, ptr %170, align 8
  %204 = icmp slt i64 %202, %203
  br i1 %204, label %177, label %173
205:                                              ; preds = %173, %205
  %206 = phi i64 [ %221, %205 ], [ 0, %173 ]
  %207 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 184), align 8
  %208 = load i64, ptr %170, align 8
  %209 = shl i64 %208, 4
  %210 = getelementptr i8, ptr %168, i64 %209
  %211 = getelementptr ptr, ptr %210, i64 %206
  %212 = load ptr, ptr %211, align 8
  %213 = call i64 %207(ptr noundef %212) #12
  %214 = load i64, ptr %170, align 8
  %215 = load i64, ptr %7, align 8
  %216 = getelementptr i64, ptr %169, i64 %214
  %217 = getelementptr i64, ptr %216, i64 %215
  %218 = getelementptr i64, ptr %217, i64 %206
  %219 = load i64, ptr %218, align 8
  %220 = getelementptr inbounds i64, ptr %3, i64 %219
  store i64 %213, ptr %220, align 8
  %221 = add nuw nsw i64 %206, 1
  %222 = load i64, ptr %174, align 8
  %223 = icmp slt i64 %221, %222
  br i1 %223, label %205, label %224
224:                                              ; preds = %205, %173, %162
  %225 = phi i32 [ 2, %162 ], [ 1, %173 ], [ 1, %205 ]
  %226 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %226(ptr noundef nonnull %150) #12
  br label %227
227:                                              ; preds = %224, %160, %4
  %228 = phi i32 [ 2, %4 ], [ -1, %160 ], [ %225, %224 ]
  ret i32 %228
}
define internal fastcc void @copy_items(ptr nocapture noundef writeonly %0, ptr nocapture noundef readonly %1, ptr nocapture noundef readonly %2, i64 noundef %3) unnamed_addr #9 {
  %5 = getelementptr inbounds nuw i8, ptr %2, i64 24
  %6 = load i64, ptr %5, align 8
  %7 = getelementptr inbounds nuw i8, ptr %2, i64 16
  %8 = load i64, ptr %7, align 8
  %9 = getelementptr inbounds nuw i8, ptr %2, i64 40
  %10 = load i64, ptr %9, align 8
  %11 = icmp ne i64 %10, 0
  %12 = icmp eq i64 %3, %8
  %13 = select i1 %11, i1 true, i1 %12
  br i1 %13, label %14, label %21
14:                                               ; preds = %4
  br i1 %12, label %19, label %15
15:                                               ; preds = %14
  %16 = getelementptr inbounds nuw i8, ptr %2, i64 32
  %17 = load i64, ptr %16, align 8
  %18 = mul nsw i64 %17, %6
  br label %19
19:                                               ; preds = %14, %15
  %20 = phi i64 [ %18, %15 ], [ %6, %14 ]
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %0, ptr align 1 %1, i64 %20, i1 false)
  br label %407
21:                                               ; preds = %4
  %22 = getelementptr inbounds nuw i8, ptr %2, i64 48
  %23 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %3
  %24 = load i64, ptr %23, align 8
  %25 = add nsw i64 %8, %3
  %26 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %25
  %27 = load i64, ptr %26, align 8
  %28 = add nsw i64 %3, 1
  %29 = icmp slt i64 %28, %8
  br i1 %29, label %30, label %99
30:                                               ; preds = %21
  %31 = xor i64 %3, -1
  %32 = add i64 %8, %31
  %33 = add i64 %8, -2
  %34 = sub i64 %33, %3
  %35 = and i64 %32, 7
  %36 = icmp eq i64 %35, 0
  br i1 %36, label %47, label %37
37:                                               ; preds = %30, %37
  %38 = phi i64 [ %44, %37 ], [ %28, %30 ]
  %39 = phi i64 [ %43, %37 ], [ %6, %30 ]
  %40 = phi i64 [ %45, %37 ], [ 0, %30 ]
  %41 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %38
  %42 = load i64, ptr %41, align 8
  %43 = mul nsw i64 %42, %39
  %44 = add nsw i64 %38, 1
  %45 = add i64 %40, 1
  %46 = icmp eq i64 %45, %35
  br i1 %46, label %47, label %37
47:                                               ; preds = %37, %30
  %48 = phi i64 [ poison, %30 ], [ %43, %37 ]
  %49 = phi i64 [ %28, %30 ], [ %44, %37 ]
  %50 = phi i64 [ %6, %30 ], [ %43, %37 ]
  %51 = icmp ult i64 %34, 7
  br i1 %51, label %52, label %55
52:                                               ; preds = %55, %47
  %53 = phi i64 [ %48, %47 ], [ %88, %55 ]
  %54 = icmp sgt i64 %24, 0
  br i1 %54, label %91, label %407
55:                                               ; preds = %47, %55
  %56 = phi i64 [ %89, %55 ], [ %49, %47 ]
  %57 = phi i64 [ %88, %55 ], [ %50, %47 ]
  %58 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %56
  %59 = load i64, ptr %58, align 8
  %60 = mul nsw i64 %59, %57
  %61 = add nsw i64 %56, 1
  %62 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %61
  %63 = load i64, ptr %62, align 8
  %64 = mul nsw i64 %63, %60
  %65 = add nsw i64 %56, 2
  %66 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %65
  %67 = load i64, ptr %66, align 8
  %68 = mul nsw i64 %67, %64
  %69 = add nsw i64 %56, 3
  %70 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %69
  %71 = load i64, ptr %70, align 8
  %72 = mul nsw i64 %71, %68
  %73 = add nsw i64 %56, 4
  %74 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %73
  %75 = load i64, ptr %74, align 8
  %76 = mul nsw i64 %75, %72
  %77 = add nsw i64 %56, 5
  %78 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %77
  %79 = load i64, ptr %78, align 8
  %80 = mul nsw i64 %79, %76
  %81 = add nsw i64 %56, 6
  %82 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %81
  %83 = load i64, ptr %82, align 8
  %84 = mul nsw i64 %83, %80
  %85 = add nsw i64 %56, 7
  %86 = getelementptr inbounds [0 x i64], ptr %22, i64 0, i64 %85
  %87 = load i64, ptr %86, align 8
  %88 = mul nsw i64 %87, %84
  %89 = add nsw i64 %56, 8
  %90 = icmp eq i64 %89, %8
  br i1 %90, label %52, label %55
91:                                               ; preds = %52, %91
  %92 = phi i64 [ %95, %91 ], [ 0, %52 ]
  %93 = phi ptr [ %96, %91 ], [ %0, %52 ]
  %94 = phi ptr [ %97, %91 ], [ %1, %52 ]
  tail call fastcc void @copy_items(ptr noundef %93, ptr noundef %94, ptr noundef %2, i64 noundef %28) #14
  %95 = add nuw nsw i64 %92, 1
  %96 = getelementptr inbounds i8, ptr %93, i64 %53
  %97 = getelementptr inbounds i8, ptr %94, i64 %27
  %98 = icmp eq i64 %95, %24
  br i1 %98, label %407, label %91
99:                                               ; preds = %21
  %100 = icmp slt i64 %24, 4
  switch i64 %6, label %123 [
    i64 8, label %112
    i64 4, label %101
  ]
101:                                              ; preds = %99
  br i1 %100, label %299, label %102
102:                                              ; preds = %101
  %103 = shl nsw i64 %27, 2
  %104 = shl nsw i64 %27, 1
  %105 = mul nsw i64 %27, 3
  %106 = add nsw i64 %24, -4
  %107 = icmp ult i64 %106, 4
  br i1 %107, label %277, label %108
108:                                              ; preds = %102
  %109 = lshr i64 %106, 2
  %110 = add nuw nsw i64 %109, 1
  %111 = and i64 %110, 9223372036854775806
  br label %243
112:                                              ; preds = %99
  br i1 %100, label %187, label %113
113:                                              ; preds = %112
  %114 = shl nsw i64 %27, 2
  %115 = shl nsw i64 %27, 1
  %116 = mul nsw i64 %27, 3
  %117 = add nsw i64 %24, -4
  %118 = icmp ult i64 %117, 4
  br i1 %118, label %165, label %119
119:                                              ; preds = %113
  %120 = lshr i64 %117, 2
  %121 = add nuw nsw i64 %120, 1
  %122 = and i64 %121, 9223372036854775806
  br label %131
123:                                              ; preds = %99
  br i1 %100, label %369, label %124
124:                                              ; preds = %123
  %125 = shl nsw i64 %6, 2
  %126 = shl nsw i64 %27, 2
  %127 = shl nsw i64 %6, 1
  %128 = shl nsw i64 %27, 1
  %129 = mul nsw i64 %6, 3
  %130 = mul nsw i64 %27, 3
  br label %355
131:                                              ; preds = %131, %119
  %132 = phi i64 [ 4, %119 ], [ %160, %131 ]
  %133 = phi ptr [ %0, %119 ], [ %158, %131 ]
  %134 = phi ptr [ %1, %119 ], [ %159, %131 ]
  %135 = phi i64 [ 0, %119 ], [ %161, %131 ]
  %136 = load i64, ptr %134, align 1
  store i64 %136, ptr %133, align 1
  %137 = getelementptr inbounds nuw i8, ptr %133, i64 8
  %138 = getelementptr inbounds i8, ptr %134, i64 %27
  %139 = load i64, ptr %138, align 1
  store i64 %139, ptr %137, align 1
  %140 = getelementptr inbounds nuw i8, ptr %133, i64 16
  %141 = getelementptr inbounds i8, ptr %134, i64 %115
  %142 = load i64, ptr %141, align 1
  store i64 %142, ptr %140, align 1
  %143 = getelementptr inbounds nuw i8, ptr %133, i64 24
  %144 = getelementptr inbounds i8, ptr %134, i64 %116
  %145 = load i64, ptr %144, align 1
  store i64 %145, ptr %143, align 1
  %146 = getelementptr inbounds nuw i8, ptr %133, i64 32
  %147 = getelementptr inbounds i8, ptr %134, i64 %114
  %148 = load i64, ptr %147, align 1
  store i64 %148, ptr %146, align 1
  %149 = getelementptr inbounds nuw i8, ptr %133, i64 40
  %150 = getelementptr inbounds i8, ptr %147, i64 %27
  %151 = load i64, ptr %150, align 1
  store i64 %151, ptr %149, align 1
  %152 = getelementptr inbounds nuw i8, ptr %133, i64 48
  %153 = getelementptr inbounds i8, ptr %147, i64 %115
  %154 = load i64, ptr %153, align 1
  store i64 %154, ptr %152, align 1
  %155 = getelementptr inbounds nuw i8, ptr %133, i64 56
  %156 = getelementptr inbounds i8, ptr %147, i64 %116
  %157 = load i64, ptr %156, align 1
  store i64 %157, ptr %155, align 1
  %158 = getelementptr inbounds nuw i8, ptr %133, i64 64
  %159 = getelementptr inbounds i8, ptr %147, i64 %114
  %160 = add nuw nsw i64 %132, 8
  %161 = add i64 %135, 2
  %162 = icmp eq i64 %161, %122
  br i1 %162, label %163, label %131
163:                                              ; preds = %131
  %164 = add nuw nsw i64 %132, 4
  br label %165
165:                                              ; preds = %163, %113
  %166 = phi i64 [ poison, %113 ], [ %164, %163 ]
  %167 = phi ptr [ poison, %113 ], [ %158, %163 ]
  %168 = phi ptr [ poison, %113 ], [ %159, %163 ]
  %169 = phi i64 [ 4, %113 ], [ %160, %163 ]
  %170 = phi ptr [ %0, %113 ], [ %158, %163 ]
  %171 = phi ptr [ %1, %113 ], [ %159, %163 ]
  %172 = and i64 %117, 4
  %173 = icmp eq i64 %172, 0
  br i1 %173, label %174, label %187
174:                                              ; preds = %165
  %175 = load i64, ptr %171, align 1
  store i64 %175, ptr %170, align 1
  %176 = getelementptr inbounds nuw i8, ptr %170, i64 8
  %177 = getelementptr inbounds i8, ptr %171, i64 %27
  %178 = load i64, ptr %177, align 1
  store i64 %178, ptr %176, align 1
  %179 = getelementptr inbounds nuw i8, ptr %170, i64 16
  %180 = getelementptr inbounds i8, ptr %171, i64 %115
  %181 = load i64, ptr %180, align 1
  store i64 %181, ptr %179, align 1
  %182 = getelementptr inbounds nuw i8, ptr %170, i64 24
  %183 = getelementptr inbounds i8, ptr %171, i64 %116
  %184 = load i64, ptr %183, align 1
  store i64 %184, ptr %182, align 1
  %185 = getelementptr inbounds nuw i8, ptr %170, i64 32
  %186 = getelementptr inbounds i8, ptr %171, i64 %114
  br label %187
187:                                              ; preds = %174, %165, %112
  %188 = phi ptr [ %1, %112 ], [ %168, %165 ], [ %186, %174 ]
  %189 = phi ptr [ %0, %112 ], [ %167, %165 ], [ %185, %174 ]
  %190 = phi i64 [ 0, %112 ], [ %166, %165 ], [ %169, %174 ]
  %191 = icmp slt i64 %190, %24
  br i1 %191, label %192, label %407
192:                                              ; preds = %187
  %193 = sub i64 %24, %190
  %194 = and i64 %193, 7
  %195 = icmp eq i64 %194, 0
  br i1 %195, label %207, label %196
196:                                              ; preds = %192, %196
  %197 = phi i64 [ %202, %196 ], [ %190, %192 ]
  %198 = phi ptr [ %203, %196 ], [ %189, %192 ]
  %199 = phi ptr [ %204, %196 ], [ %188, %192 ]
  %200 = phi i64 [ %205, %196 ], [ 0, %192 ]
  %201 = load i64, ptr %199, align 1
  store i64 %201, ptr %198, align 1
  %202 = add nuw nsw i64 %197, 1
  %203 = getelementptr inbounds nuw i8, ptr %198, i64 8
  %204 = getelementptr inbounds i8, ptr %199, i64 %27
  %205 = add i64 %200, 1
  %206 = icmp eq i64 %205, %194
  br i1 %206, label %207, label %196
207:                                              ; preds = %196, %192
  %208 = phi i64 [ %190, %192 ], [ %202, %196 ]
  %209 = phi ptr [ %189, %192 ], [ %203, %196 ]
  %210 = phi ptr [ %188, %192 ], [ %204, %196 ]
  %211 = sub i64 %190, %24
  %212 = icmp ugt i64 %211, -8
  br i1 %212, label %407, label %213
213:                                              ; preds = %207, %213
  %214 = phi i64 [ %239, %213 ], [ %208, %207 ]
  %215 = phi ptr [ %240, %213 ], [ %209, %207 ]
  %216 = phi ptr [ %241, %213 ], [ %210, %207 ]
  %217 = load i64, ptr %216, align 1
  store i64 %217, ptr %215, align 1
  %218 = getelementptr inbounds nuw i8, ptr %215, i64 8
  %219 = getelementptr inbounds i8, ptr %216, i64 %27
  %220 = load i64, ptr %219, align 1
  store i64 %220, ptr %218, align 1
  %221 = getelementptr inbounds nuw i8, ptr %215, i64 16
  %222 = getelementptr inbounds i8, ptr %219, i64 %27
  %223 = load i64, ptr %222, align 1
  store i64 %223, ptr %221, align 1
  %224 = getelementptr inbounds nuw i8, ptr %215, i64 24
  %225 = getelementptr inbounds i8, ptr %222, i64 %27
  %226 = load i64, ptr %225, align 1
  store i64 %226, ptr %224, align 1
  %227 = getelementptr inbounds nuw i8, ptr %215, i64 32
  %228 = getelementptr inbounds i8, ptr %225, i64 %27
  %229 = load i64, ptr %228, align 1
  store i64 %229, ptr %227, align 1
  %230 = getelementptr inbounds nuw i8, ptr %215, i64 40
  %231 = getelementptr inbounds i8, ptr %228, i64 %27
  %232 = load i64, ptr %231, align 1
  store i64 %232, ptr %230, align 1
  %233 = getelementptr inbounds nuw i8, ptr %215, i64 48
  %234 = getelementptr inbounds i8, ptr %231, i64 %27
  %235 = load i64, ptr %234, align 1
  store i64 %235, ptr %233, align 1
  %236 = getelementptr inbounds nuw i8, ptr %215, i64 56
  %237 = getelementptr inbounds i8, ptr %234, i64 %27
  %238 = load i64, ptr %237, align 1
  store i64 %238, ptr %236, align 1
  %239 = add nuw nsw i64 %214, 8
  %240 = getelementptr inbounds nuw i8, ptr %215, i64 64
  %241 = getelementptr inbounds i8, ptr %237, i64 %27
  %242 = icmp eq i64 %239, %24
  br i1 %242, label %407, label %213
243:                                              ; preds = %243, %108
  %244 = phi i64 [ 4, %108 ], [ %272, %243 ]
  %245 = phi ptr [ %0, %108 ], [ %270, %243 ]
  %246 = phi ptr [ %1, %108 ], [ %271, %243 ]
  %247 = phi i64 [ 0, %108 ], [ %273, %243 ]
  %248 = load i32, ptr %246, align 1
  store i32 %248, ptr %245, align 1
  %249 = getelementptr inbounds nuw i8, ptr %245, i64 4
  %250 = getelementptr inbounds i8, ptr %246, i64 %27
  %251 = load i32, ptr %250, align 1
  store i32 %251, ptr %249, align 1
  %252 = getelementptr inbounds nuw i8, ptr %245, i64 8
  %253 = getelementptr inbounds i8, ptr %246, i64 %104
  %254 = load i32, ptr %253, align 1
  store i32 %254, ptr %252, align 1
  %255 = getelementptr inbounds nuw i8, ptr %245, i64 12
  %256 = getelementptr inbounds i8, ptr %246, i64 %105
  %257 = load i32, ptr %256, align 1
  store i32 %257, ptr %255, align 1
  %258 = getelementptr inbounds nuw i8, ptr %245, i64 16
  %259 = getelementptr inbounds i8, ptr %246, i64 %103
  %260 = load i32, ptr %259, align 1
  store i32 %260, ptr %258, align 1
  %261 = getelementptr inbounds nuw i8, ptr %245, i64 20
  %262 = getelementptr inbounds i8, ptr %259, i64 %27
  %263 = load i32, ptr %262, align 1
  store i32 %263, ptr %261, align 1
  %264 = getelementptr inbounds nuw i8, ptr %245, i64 24
  %265 = getelementptr inbounds i8, ptr %259, i64 %104
  %266 = load i32, ptr %265, align 1
  store i32 %266, ptr %264, align 1
  %267 = getelementptr inbounds nuw i8, ptr %245, i64 28
  %268 = getelementptr inbounds i8, ptr %259, i64 %105
  %269 = load i32, ptr %268, align 1
  store i32 %269, ptr %267, align 1
  %270 = getelementptr inbounds nuw i8, ptr %245, i64 32
  %271 = getelementptr inbounds i8, ptr %259, i64 %103
  %272 = add nuw nsw i64 %244, 8
  %273 = add i64 %247, 2
  %274 = icmp eq i64 %273, %111
  br i1 %274, label %275, label %243
275:                                              ; preds = %243
  %276 = add nuw nsw i64 %244, 4
  br label %277
277:                                              ; preds = %275, %102
  %278 = phi i64 [ poison, %102 ], [ %276, %275 ]
  %279 = phi ptr [ poison, %102 ], [ %270, %275 ]
  %280 = phi ptr [ poison, %102 ], [ %271, %275 ]
  %281 = phi i64 [ 4, %102 ], [ %272, %275 ]
  %282 = phi ptr [ %0, %102 ], [ %270, %275 ]
  %283 = phi ptr [ %1, %102 ], [ %271, %275 ]
  %284 = and i64 %106, 4
  %285 = icmp eq i64 %284, 0
  br i1 %285, label %286, label %299
286:                                              ; preds = %277
  %287 = load i32, ptr %283, align 1
  store i32 %287, ptr %282, align 1
  %288 = getelementptr inbounds nuw i8, ptr %282, i64 4
  %289 = getelementptr inbounds i8, ptr %283, i64 %27
  %290 = load i32, ptr %289, align 1
  store i32 %290, ptr %288, align 1
  %291 = getelementptr inbounds nuw i8, ptr %282, i64 8
  %292 = getelementptr inbounds i8, ptr %283, i64 %104
  %293 = load i32, ptr %292, align 1
  store i32 %293, ptr %291, align 1
  %294 = getelementptr inbounds nuw i8, ptr %282, i64 12
  %295 = getelementptr inbounds i8, ptr %283, i64 %105
  %296 = load i32, ptr %295, align 1
  store i32 %296, ptr %294, align 1
  %297 = getelementptr inbounds nuw i8, ptr %282, i64 16
  %298 = getelementptr inbounds i8, ptr %283, i64 %103
  br label %299
299:                                              ; preds = %286, %277, %101
  %300 = phi ptr [ %1, %101 ], [ %280, %277 ], [ %298, %286 ]
  %301 = phi ptr [ %0, %101 ], [ %279, %277 ], [ %297, %286 ]
  %302 = phi i64 [ 0, %101 ], [ %278, %277 ], [ %281, %286 ]
  %303 = icmp slt i64 %302, %24
  br i1 %303, label %304, label %407
304:                                              ; preds = %299
  %305 = sub i64 %24, %302
  %306 = and i64 %305, 7
  %307 = icmp eq i64 %306, 0
  br i1 %307, label %319, label %308
308:                                              ; preds = %304, %308
  %309 = phi i64 [ %314, %308 ], [ %302, %304 ]
  %310 = phi ptr [ %315, %308 ], [ %301, %304 ]
  %311 = phi ptr [ %316, %308 ], [ %300, %304 ]
  %312 = phi i64 [ %317, %308 ], [ 0, %304 ]
  %313 = load i32, ptr %311, align 1
  store i32 %313, ptr %310, align 1
  %314 = add nuw nsw i64 %309, 1
  %315 = getelementptr inbounds nuw i8, ptr %310, i64 4
  %316 = getelementptr inbounds i8, ptr %311, i64 %27
  %317 = add i64 %312, 1
  %318 = icmp eq i64 %317, %306
  br i1 %318, label %319, label %308
319:                                              ; preds = %308, %304
  %320 = phi i64 [ %302, %304 ], [ %314, %308 ]
  %321 = phi ptr [ %301, %304 ], [ %315, %308 ]
  %322 = phi ptr [ %300, %304 ], [ %316, %308 ]
  %323 = sub i64 %302, %24
  %324 = icmp ugt i64 %323, -8
  br i1 %324, label %407, label %325
325:                                              ; preds = %319, %325
  %326 = phi i64 [ %351, %325 ], [ %320, %319 ]
  %327 = phi ptr [ %352, %325 ], [ %321, %319 ]
  %328 = phi ptr [ %353, %325 ], [ %322, %319 ]
  %329 = load i32, ptr %328, align 1
  store i32 %329, ptr %327, align 1
  %330 = getelementptr inbounds nuw i8, ptr %327, i64 4
  %331 = getelementptr inbounds i8, ptr %328, i64 %27
  %332 = load i32, ptr %331, align 1
  store i32 %332, ptr %330, align 1
  %333 = getelementptr inbounds nuw i8, ptr %327, i64 8
  %334 = getelementptr inbounds i8, ptr %331, i64 %27
  %335 = load i32, ptr %334, align 1
  store i32 %335, ptr %333, align 1
  %336 = getelementptr inbounds nuw i8, ptr %327, i64 12
  %337 = getelementptr inbounds i8, ptr %334, i64 %27
  %338 = load i32, ptr %337, align 1
  store i32 %338, ptr %336, align 1
  %339 = getelementptr inbounds nuw i8, ptr %327, i64 16
  %340 = getelementptr inbounds i8, ptr %337, i64 %27
  %341 = load i32, ptr %340, align 1
  store i32 %341, ptr %339, align 1
  %342 = getelementptr inbounds nuw i8, ptr %327, i64 20
  %343 = getelementptr inbounds i8, ptr %340, i64 %27
  %344 = load i32, ptr %343, align 1
  store i32 %344, ptr %342, align 1
  %345 = getelementptr inbounds nuw i8, ptr %327, i64 24
  %346 = getelementptr inbounds i8, ptr %343, i64 %27
  %347 = load i32, ptr %346, align 1
  store i32 %347, ptr %345, align 1
  %348 = getelementptr inbounds nuw i8, ptr %327, i64 28
  %349 = getelementptr inbounds i8, ptr %346, i64 %27
  %350 = load i32, ptr %349, align 1
  store i32 %350, ptr %348, align 1
  %351 = add nuw nsw i64 %326, 8
  %352 = getelementptr inbounds nuw i8, ptr %327, i64 32
  %353 = getelementptr inbounds i8, ptr %349, i64 %27
  %354 = icmp eq i64 %351, %24
  br i1 %354, label %407, label %325
355:                                              ; preds = %124, %355
  %356 = phi i64 [ 4, %124 ], [ %367, %355 ]
  %357 = phi ptr [ %0, %124 ], [ %365, %355 ]
  %358 = phi ptr [ %1, %124 ], [ %366, %355 ]
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %357, ptr align 1 %358, i64 %6, i1 false)
  %359 = getelementptr inbounds i8, ptr %357, i64 %6
  %360 = getelementptr inbounds i8, ptr %358, i64 %27
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %359, ptr align 1 %360, i64 %6, i1 false)
  %361 = getelementptr inbounds i8, ptr %357, i64 %127
  %362 = getelementptr inbounds i8, ptr %358, i64 %128
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %361, ptr align 1 %362, i64 %6, i1 false)
  %363 = getelementptr inbounds i8, ptr %357, i64 %129
  %364 = getelementptr inbounds i8, ptr %358, i64 %130
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %363, ptr align 1 %364, i64 %6, i1 false)
  %365 = getelementptr inbounds i8, ptr %357, i64 %125
  %366 = getelementptr inbounds i8, ptr %358, i64 %126
  %367 = add nuw nsw i64 %356, 4
  %368 = icmp sgt i64 %367, %24
  br i1 %368, label %369, label %355
369:                                              ; preds = %355, %123
  %370 = phi ptr [ %1, %123 ], [ %366, %355 ]
  %371 = phi ptr [ %0, %123 ], [ %365, %355 ]
  %372 = phi i64 [ 0, %123 ], [ %356, %355 ]
  %373 = icmp slt i64 %372, %24
  br i1 %373, label %374, label %407
374:                                              ; preds = %369
  %375 = and i64 %24, 3
  %376 = icmp eq i64 %375, 0
  br i1 %376, label %387, label %377
377:                                              ; preds = %374, %377
  %378 = phi i64 [ %382, %377 ], [ %372, %374 ]
  %379 = phi ptr [ %383, %377 ], [ %371, %374 ]
  %380 = phi ptr [ %384, %377 ], [ %370, %374 ]
  %381 = phi i64 [ %385, %377 ], [ 0, %374 ]
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %379, ptr align 1 %380, i64 %6, i1 false)
  %382 = add nuw nsw i64 %378, 1
  %383 = getelementptr inbounds i8, ptr %379, i64 %6
  %384 = getelementptr inbounds i8, ptr %380, i64 %27
  %385 = add i64 %381, 1
  %386 = icmp eq i64 %385, %375
  br i1 %386, label %387, label %377
387:                                              ; preds = %377, %374
  %388 = phi i64 [ %372, %374 ], [ %382, %377 ]
  %389 = phi ptr [ %371, %374 ], [ %383, %377 ]
  %390 = phi ptr [ %370, %374 ], [ %384, %377 ]
  %391 = sub i64 %372, %24
  %392 = icmp ugt i64 %391, -4
  br i1 %392, label %407, label %393
393:                                              ; preds = %387, %393
  %394 = phi i64 [ %403, %393 ], [ %388, %387 ]
  %395 = phi ptr [ %404, %393 ], [ %389, %387 ]
  %396 = phi ptr [ %405, %393 ], [ %390, %387 ]
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %395, ptr align 1 %396, i64 %6, i1 false)
  %397 = getelementptr inbounds i8, ptr %395, i64 %6
  %398 = getelementptr inbounds i8, ptr %396, i64 %27
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %397, ptr align 1 %398, i64 %6, i1 false)
  %399 = getelementptr inbounds i8, ptr %397, i64 %6
  %400 = getelementptr inbounds i8, ptr %398, i64 %27
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %399, ptr align 1 %400, i64 %6, i1 false)
  %401 = getelementptr inbounds i8, ptr %399, i64 %6
  %402 = getelementptr inbounds i8, ptr %400, i64 %27
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %401, ptr align 1 %402, i64 %6, i1 false)
  %403 = add nuw nsw i64 %394, 4
  %404 = getelementptr inbounds i8, ptr %401, i64 %6
  %405 = getelementptr inbounds i8, ptr %402, i64 %27
  %406 = icmp eq i64 %403, %24
  br i1 %406, label %407, label %393
407:                                              ; preds = %319, %325, %207, %213, %387, %393, %91, %299, %187, %369, %52, %19
  ret void
}
define internal fastcc range(i32 0, 2) i32 @evaluated(ptr nocapture noundef readonly %0, ptr nocapture noundef nonnull %1) unnamed_addr #2 {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %4 = load i64, ptr %3, align 8
  %5 = add nsw i64 %4, 1
  %6 = alloca ptr, i64 %5, align 16
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %8 = icmp sgt i64 %4, 0
  br i1 %8, label %9, label %23
9:                                                ; preds = %2, %20
  %10 = phi i64 [ %21, %20 ], [ 0, %2 ]
  %11 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 280), align 8
  %12 = getelementptr inbounds nuw i64, ptr %7, i64 %10
  %13 = load i64, ptr %12, align 8
  %14 = getelementptr inbounds i64, ptr %1, i64 %13
  %15 = load i64, ptr %14, align 8
  %16 = tail call ptr %11(i64 noundef %15) #12
  %17 = getelementptr inbounds nuw ptr, ptr %6, i64 %10
  store ptr %16, ptr %17, align 8
  %18 = icmp eq ptr %16, null
  %19 = load i64, ptr %3, align 8
  br i1 %18, label %23, label %20
20:                                               ; preds = %9
  %21 = add nuw nsw i64 %10, 1
  %22 = icmp slt i64 %21, %19
  br i1 %22, label %9, label %23
23:                                               ; preds = %9, %20, %2
  %24 = phi i64 [ %4, %2 ], [ %19, %20 ], [ %19, %9 ]
  %25 = phi i64 [ 0, %2 ], [ %10, %9 ], [ %21, %20 ]
  %26 = icmp eq i64 %25, %24
  br i1 %26, label %27, label %33
27:                                               ; preds = %23
  %28 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %30 = load i64, ptr %29, align 8
  %31 = inttoptr i64 %30 to ptr
  %32 = call ptr %28(ptr noundef %31, ptr noundef nonnull %6, i64 noundef %24, ptr noundef null) #12
  br label %33
33:                                               ; preds = %27, %23
  %34 = phi ptr [ %32, %27 ], [ null, %23 ]
  %35 = icmp eq i64 %25, 0
  br i1 %35, label %43, label %36
36:                                               ; preds = %33, %36
  %37 = phi i64 [ %39, %36 ], [ %25, %33 ]
  %38 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  %39 = add nsw i64 %37, -1
  %40 = getelementptr inbounds ptr, ptr %6, i64 %39
  %41 = load ptr, ptr %40, align 8
  call void %38(ptr noundef %41) #12
  %42 = icmp eq i64 %39, 0
  br i1 %42, label %43, label %36
43:                                               ; preds = %36, %33
  %44 = icmp eq ptr %34, null
  br i1 %44, label %52, label %45
45:                                               ; preds = %43
  %46 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 184), align 8
  %47 = call i64 %46(ptr noundef nonnull %34) #12
  %48 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %49 = load i64, ptr %48, align 8
  %50 = getelementptr inbounds i64, ptr %1, i64 %49
  store i64 %47, ptr %50, align 8
  %51 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  call void %51(ptr noundef nonnull %34) #12
  br label %52
52:                                               ; preds = %43, %45
  %53 = phi i32 [ 1, %45 ], [ 0, %43 ]
  ret i32 %53
}
define internal fastcc ptr @shown(ptr nocapture noundef readonly %0, ptr nocapture noundef nonnull readonly %1) unnamed_addr #2 {
  %3 = getelementptr inbounds nuw i8, ptr %1, i64 16
  %4 = load ptr, ptr %3, align 8
  %5 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %6 = getelementptr inbounds i8, ptr %4, i64 %5
  %7 = load ptr, ptr %6, align 8
  %8 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 312), align 8
  %9 = icmp eq ptr %7, %8
  %10 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 320), align 8
  %11 = icmp eq ptr %7, %10
  %12 = select i1 %9, i1 true, i1 %11
  br i1 %12, label %13, label %19
13:                                               ; preds = %2
  %14 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %15 = load ptr, ptr %14, align 8
  %16 = getelementptr inbounds nuw i8, ptr %15, i64 16
  %17 = load i64, ptr %16, align 8
  %18 = icmp eq i64 %17, 0
  br i1 %18, label %73, label %76
19:                                               ; preds = %2
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %21 = load ptr, ptr %20, align 8
  %22 = icmp eq ptr %7, %21
  %23 = load i64, ptr %1, align 8
  br i1 %22, label %24, label %118
24:                                               ; preds = %19
  %25 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %26 = getelementptr inbounds i8, ptr %4, i64 %25
  %27 = load i64, ptr %26, align 8
  %28 = icmp eq i64 %27, %23
  br i1 %28, label %29, label %118
29:                                               ; preds = %24
  %30 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %31 = load ptr, ptr %30, align 8
  %32 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 408), align 8
  %33 = getelementptr inbounds i8, ptr %4, i64 %32
  %34 = load i64, ptr %33, align 8
  %35 = load ptr, ptr %31, align 8
  %36 = ptrtoint ptr %35 to i64
  %37 = icmp eq i64 %34, %36
  br i1 %37, label %38, label %118
38:                                               ; preds = %29
  %39 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 376), align 8
  %40 = getelementptr inbounds i8, ptr %4, i64 %39
  %41 = load i32, ptr %40, align 4
  %42 = sext i32 %41 to i64
  %43 = getelementptr inbounds nuw i8, ptr %31, i64 16
  %44 = load i64, ptr %43, align 8
  %45 = icmp eq i64 %44, %42
  br i1 %45, label %46, label %118
46:                                               ; preds = %38
  %47 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 384), align 8
  %48 = getelementptr inbounds i8, ptr %4, i64 %47
  %49 = load ptr, ptr %48, align 8
  %50 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 392), align 8
  %51 = getelementptr inbounds i8, ptr %4, i64 %50
  %52 = load ptr, ptr %51, align 8
  %53 = icmp slt i32 %41, 1
  br i1 %53, label %73, label %54
54:                                               ; preds = %46
  %55 = getelementptr inbounds nuw i8, ptr %31, i64 48
  br label %59
56:                                               ; preds = %66
  %57 = add nuw nsw i64 %60, 1
  %58 = icmp eq i64 %57, %42
  br i1 %58, label %73, label %59
59:                                               ; preds = %56, %54
  %60 = phi i64 [ 0, %54 ], [ %57, %56 ]
  %61 = getelementptr inbounds nuw i64, ptr %49, i64 %60
  %62 = load i64, ptr %61, align 8
  %63 = getelementptr inbounds nuw [0 x i64], ptr %55, i64 0, i64 %60
  %64 = load i64, ptr %63, align 8
  %65 = icmp eq i64 %62, %64
  br i1 %65, label %66, label %118
66:                                               ; preds = %59
  %67 = getelementptr inbounds nuw i64, ptr %52, i64 %60
  %68 = load i64, ptr %67, align 8
  %69 = add nuw nsw i64 %60, %42
  %70 = getelementptr inbounds nuw [0 x i64], ptr %55, i64 0, i64 %69
  %71 = load i64, ptr %70, align 8
  %72 = icmp eq i64 %68, %71
  br i1 %72, label %56, label %118
73:                                               ; preds = %56, %46, %13
  %74 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  tail call void %74(ptr noundef %4) #12
  %75 = load ptr, ptr %3, align 8
  br label %167
76:                                               ; preds = %13
  %77 = getelementptr inbounds nuw i8, ptr %15, i64 8
  %78 = load ptr, ptr %77, align 8
  %79 = icmp eq ptr %78, null
  br i1 %79, label %83, label %80
80:                                               ; preds = %76
  %81 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %82 = tail call ptr %81(ptr noundef nonnull %78, ptr noundef null, i64 noundef 0, ptr noundef null) #12
  br label %105
83:                                               ; preds = %76
  %84 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %85 = load ptr, ptr %15, align 8
  tail call void %84(ptr noundef %85) #12
  %86 = getelementptr inbounds nuw i8, ptr %15, i64 40
  %87 = load i64, ptr %86, align 8
  %88 = icmp eq i64 %87, 0
  br i1 %88, label %91, label %89
89:                                               ; preds = %83
  %90 = load i64, ptr %16, align 8
  br label %95
91:                                               ; preds = %83
  %92 = getelementptr inbounds nuw i8, ptr %15, i64 48
  %93 = load i64, ptr %16, align 8
  %94 = getelementptr inbounds i64, ptr %92, i64 %93
  br label %95
95:                                               ; preds = %91, %89
  %96 = phi i64 [ %93, %91 ], [ %90, %89 ]
  %97 = phi ptr [ %94, %91 ], [ null, %89 ]
  %98 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 328), align 8
  %99 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %100 = load ptr, ptr %99, align 8
  %101 = load ptr, ptr %15, align 8
  %102 = trunc i64 %96 to i32
  %103 = getelementptr inbounds nuw i8, ptr %15, i64 48
  %104 = tail call ptr %98(ptr noundef %100, ptr noundef %101, i32 noundef %102, ptr noundef nonnull %103, ptr noundef %97, ptr noundef null, i32 noundef 0, ptr noundef null) #12
  br label %105
105:                                              ; preds = %80, %95
  %106 = phi ptr [ %104, %95 ], [ %82, %80 ]
  %107 = icmp eq ptr %106, null
  br i1 %107, label %167, label %108
108:                                              ; preds = %105
  %109 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %110 = getelementptr inbounds i8, ptr %106, i64 %109
  %111 = load i64, ptr %110, align 8
  %112 = inttoptr i64 %111 to ptr
  %113 = load i64, ptr %1, align 8
  %114 = inttoptr i64 %113 to ptr
  %115 = load ptr, ptr %14, align 8
  %116 = getelementptr inbounds nuw i8, ptr %115, i64 24
  %117 = load i64, ptr %116, align 8
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %112, ptr align 1 %114, i64 %117, i1 false)
  br label %167
118:                                              ; preds = %59, %66, %29, %38, %19, %24
  %119 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %120 = load ptr, ptr %119, align 8
  %121 = inttoptr i64 %23 to ptr
  %122 = getelementptr inbounds nuw i8, ptr %120, i64 8
  %123 = load ptr, ptr %122, align 8
  %124 = icmp eq ptr %123, null
  %125 = icmp ne i64 %23, 0
  %126 = or i1 %125, %124
  br i1 %126, label %130, label %127
127:                                              ; preds = %118
  %128 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %129 = tail call ptr %128(ptr noundef nonnull %123, ptr noundef null, i64 noundef 0, ptr noundef null) #12
  br label %155
130:                                              ; preds = %118
  %131 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %132 = load ptr, ptr %120, align 8
  tail call void %131(ptr noundef %132) #12
  %133 = getelementptr inbounds nuw i8, ptr %120, i64 40
  %134 = load i64, ptr %133, align 8
  %135 = icmp eq i64 %134, 0
  %136 = or i1 %125, %135
  br i1 %136, label %140, label %137
137:                                              ; preds = %130
  %138 = getelementptr inbounds nuw i8, ptr %120, i64 16
  %139 = load i64, ptr %138, align 8
  br label %145
140:                                              ; preds = %130
  %141 = getelementptr inbounds nuw i8, ptr %120, i64 48
  %142 = getelementptr inbounds nuw i8, ptr %120, i64 16
  %143 = load i64, ptr %142, align 8
  %144 = getelementptr inbounds i64, ptr %141, i64 %143
  br label %145
145:                                              ; preds = %140, %137
  %146 = phi i64 [ %143, %140 ], [ %139, %137 ]
  %147 = phi ptr [ %144, %140 ], [ null, %137 ]
  %148 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 328), align 8
  %149 = load ptr, ptr %20, align 8
  %150 = load ptr, ptr %120, align 8
  %151 = trunc i64 %146 to i32
  %152 = getelementptr inbounds nuw i8, ptr %120, i64 48
  %153 = select i1 %125, i32 1024, i32 0
  %154 = tail call ptr %148(ptr noundef %149, ptr noundef %150, i32 noundef %151, ptr noundef nonnull %152, ptr noundef %147, ptr noundef %121, i32 noundef %153, ptr noundef null) #12
  br label %155
155:                                              ; preds = %127, %145
  %156 = phi ptr [ %154, %145 ], [ %129, %127 ]
  %157 = icmp eq ptr %156, null
  br i1 %157, label %167, label %158
158:                                              ; preds = %155
  %159 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %160 = load ptr, ptr %3, align 8
  tail call void %159(ptr noundef %160) #12
  %161 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 336), align 8
  %162 = load ptr, ptr %3, align 8
  %163 = tail call i32 %161(ptr noundef nonnull %156, ptr noundef %162) #12
  %164 = icmp eq i32 %163, 0
  br i1 %164, label %167, label %165
165:                                              ; preds = %158
  %166 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  tail call void %166(ptr noundef nonnull %156) #12
  br label %167
167:                                              ; preds = %165, %155, %158, %105, %108, %73
  %168 = phi ptr [ %75, %73 ], [ %106, %108 ], [ null, %105 ], [ null, %165 ], [ null, %155 ], [ %156, %158 ]
  ret ptr %168
}
define internal fastcc ptr @given_away(ptr nocapture noundef readonly %0, ptr nocapture noundef nonnull %1) unnamed_addr #2 {
  %3 = getelementptr inbounds nuw i8, ptr %1, i64 16
  %4 = load ptr, ptr %3, align 8
  %5 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 344), align 8
  %6 = getelementptr inbounds i8, ptr %4, i64 %5
  %7 = getelementptr inbounds i8, ptr %6, i64 -8
  %8 = load i32, ptr %7, align 4
  %9 = icmp eq i32 %8, 1
  br i1 %9, label %10, label %76
10:                                               ; preds = %2
  %11 = load ptr, ptr %6, align 8
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %13 = load ptr, ptr %12, align 8
  %14 = icmp eq ptr %11, %13
  br i1 %14, label %15, label %76
15:                                               ; preds = %10
  %16 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %17 = getelementptr inbounds i8, ptr %4, i64 %16
  %18 = load i64, ptr %17, align 8
  %19 = load i64, ptr %1, align 8
  %20 = icmp eq i64 %18, %19
  br i1 %20, label %21, label %76
21:                                               ; preds = %15
  %22 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %23 = load ptr, ptr %22, align 8
  %24 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 408), align 8
  %25 = getelementptr inbounds i8, ptr %4, i64 %24
  %26 = load i64, ptr %25, align 8
  %27 = load ptr, ptr %23, align 8
  %28 = ptrtoint ptr %27 to i64
  %29 = icmp eq i64 %26, %28
  br i1 %29, label %30, label %76
30:                                               ; preds = %21
  %31 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 376), align 8
  %32 = getelementptr inbounds i8, ptr %4, i64 %31
  %33 = load i32, ptr %32, align 4
  %34 = sext i32 %33 to i64
  %35 = getelementptr inbounds nuw i8, ptr %23, i64 16
  %36 = load i64, ptr %35, align 8
  %37 = icmp eq i64 %36, %34
  br i1 %37, label %38, label %76
38:                                               ; preds = %30
  %39 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 384), align 8
  %40 = getelementptr inbounds i8, ptr %4, i64 %39
  %41 = load ptr, ptr %40, align 8
  %42 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 392), align 8
  %43 = getelementptr inbounds i8, ptr %4, i64 %42
  %44 = load ptr, ptr %43, align 8
  %45 = icmp slt i32 %33, 1
  br i1 %45, label %65, label %46
46:                                               ; preds = %38
  %47 = getelementptr inbounds nuw i8, ptr %23, i64 48
  br label %51
48:                                               ; preds = %58
  %49 = add nuw nsw i64 %52, 1
  %50 = icmp eq i64 %49, %34
  br i1 %50, label %65, label %51
51:                                               ; preds = %48, %46
  %52 = phi i64 [ 0, %46 ], [ %49, %48 ]
  %53 = getelementptr inbounds nuw i64, ptr %41, i64 %52
  %54 = load i64, ptr %53, align 8
  %55 = getelementptr inbounds nuw [0 x i64], ptr %47, i64 0, i64 %52
  %56 = load i64, ptr %55, align 8
  %57 = icmp eq i64 %54, %56
  br i1 %57, label %58, label %76
58:                                               ; preds = %51
  %59 = getelementptr inbounds nuw i64, ptr %44, i64 %52
  %60 = load i64, ptr %59, align 8
  %61 = add nuw nsw i64 %52, %34
  %62 = getelementptr inbounds nuw [0 x i64], ptr %47, i64 0, i64 %61
  %63 = load i64, ptr %62, align 8
  %64 = icmp eq i64 %60, %63
  br i1 %64, label %48, label %76
65:                                               ; preds = %48, %38
  %66 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 400), align 8
  %67 = getelementptr inbounds i8, ptr %4, i64 %66
  %68 = load ptr, ptr %67, align 8
  %69 = icmp eq ptr %68, null
  br i1 %69, label %82, label %70
70:                                               ; preds = %65
  %71 = getelementptr inbounds i8, ptr %68, i64 %5
  %72 = load ptr, ptr %71, align 8
  %73 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %74 = load ptr, ptr %73, align 8
  %75 = icmp eq ptr %72, %74
  br i1 %75, label %82, label %76
76:                                               ; preds = %51, %58, %21, %30, %10, %15, %2, %70
  %77 = tail call fastcc ptr @copied(ptr noundef %0, ptr noundef %1) #14
  %78 = load ptr, ptr %3, align 8
  %79 = icmp eq ptr %78, null
  br i1 %79, label %82, label %80
80:                                               ; preds = %76
  %81 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  tail call void %81(ptr noundef nonnull %78) #12
  br label %82
82:                                               ; preds = %80, %76, %70, %65
  %83 = phi ptr [ %4, %65 ], [ %4, %70 ], [ %77, %76 ], [ %77, %80 ]
  store ptr null, ptr %3, align 8
  ret ptr %83
}
define internal fastcc ptr @copied(ptr nocapture noundef readonly %0, ptr nocapture noundef nonnull readonly %1) unnamed_addr #2 {
  %3 = alloca ptr, align 8
  %4 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %5 = load ptr, ptr %4, align 8
  %6 = getelementptr inbounds nuw i8, ptr %5, i64 32
  %7 = load i64, ptr %6, align 8
  %8 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %9 = load i64, ptr %8, align 8
  %10 = mul nsw i64 %9, %7
  %11 = icmp slt i64 %10, 131072
  br i1 %11, label %12, label %34
12:                                               ; preds = %2
  %13 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 240), align 8
  %14 = load ptr, ptr %5, align 8
  tail call void %13(ptr noundef %14) #12
  %15 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 328), align 8
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %17 = load ptr, ptr %16, align 8
  %18 = load ptr, ptr %5, align 8
  %19 = getelementptr inbounds nuw i8, ptr %5, i64 16
  %20 = load i64, ptr %19, align 8
  %21 = trunc i64 %20 to i32
  %22 = getelementptr inbounds nuw i8, ptr %5, i64 48
  %23 = tail call ptr %15(ptr noundef %17, ptr noundef %18, i32 noundef %21, ptr noundef nonnull %22, ptr noundef null, ptr noundef null, i32 noundef 0, ptr noundef null) #12
  %24 = icmp eq ptr %23, null
  br i1 %24, label %46, label %25
25:                                               ; preds = %12
  %26 = load i64, ptr %6, align 8
  %27 = icmp eq i64 %26, 0
  br i1 %27, label %46, label %28
28:                                               ; preds = %25
  %29 = load i64, ptr getelementptr inbounds nuw (i8, ptr @host, i64 368), align 8
  %30 = getelementptr inbounds i8, ptr %23, i64 %29
  %31 = load ptr, ptr %30, align 8
  %32 = load i64, ptr %1, align 8
  %33 = inttoptr i64 %32 to ptr
  tail call fastcc void @copy_items(ptr noundef %31, ptr noundef %33, ptr noundef nonnull %5, i64 noundef 0) #14
  br label %46
34:                                               ; preds = %2
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %3) #13
  %35 = tail call fastcc ptr @shown(ptr noundef %0, ptr noundef %1) #14
  store ptr %35, ptr %3, align 8
  %36 = icmp eq ptr %35, null
  br i1 %36, label %44, label %37
37:                                               ; preds = %34
  %38 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 272), align 8
  %39 = getelementptr inbounds nuw i8, ptr %0, i64 96
  %40 = load ptr, ptr %39, align 8
  %41 = call ptr %38(ptr noundef %40, ptr noundef nonnull %3, i64 noundef 1, ptr noundef null) #12
  %42 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @host, i64 248), align 8
  %43 = load ptr, ptr %3, align 8
  call void %42(ptr noundef %43) #12
  br label %44
44:                                               ; preds = %34, %37
  %45 = phi ptr [ %41, %37 ], [ null, %34 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %3) #13
  br label %46
46:                                               ; preds = %12, %25, %28, %44
  %47 = phi ptr [ %45, %44 ], [ %23, %28 ], [ %23, %25 ], [ null, %12 ]
  ret ptr %47
}
declare double @llvm.fabs.f64(double) #10
declare i64 @llvm.smax.i64(i64, i64) #11
declare i64 @llvm.smin.i64(i64, i64) #11
attributes #0 = { mustprogress nofree norecurse nosync nounwind willreturn memory(readwrite, inaccessiblemem: none) }
attributes #1 = { noreturn nounwind }
attributes #2 = { nounwind }
attributes #3 = { mustprogress nofree norecurse nosync nounwind willreturn memory(read, argmem: none, inaccessiblemem: none) }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #5 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #6 = { nounwind }
attributes #7 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #8 = { mustprogress nocallback nofree nosync nounwind willreturn }
attributes #9 = { nofree nosync nounwind memory(argmem: readwrite) }
attributes #10 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #11 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #12 = { nobuiltin nounwind }
attributes #13 = { nounwind }
attributes #14 = { nobuiltin }
